/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Preloaded: the name "inside.test" leads to 127.0.0.1, "changing.test" to a public address when it
 * is asked for the first time and to 127.0.0.1 afterwards. Connections to 198.51.100.7, an address
 * of nobody, are made to 127.0.0.1. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

static int n_asked;

int
getaddrinfo (
    const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
  int (*next) (const char *, const char *, const struct addrinfo *, struct addrinfo **) =
      dlsym (RTLD_NEXT, "getaddrinfo");

  if (node && strcmp (node, "inside.test") == 0)
    node = "127.0.0.1";
  if (node && strcmp (node, "changing.test") == 0)
    node = __atomic_fetch_add (&n_asked, 1, __ATOMIC_SEQ_CST) == 0 ? "198.51.100.1" : "127.0.0.1";
  return next (node, service, hints, result);
}

int
connect (int socket, const struct sockaddr *address, socklen_t length)
{
  int (*next) (int, const struct sockaddr *, socklen_t) = dlsym (RTLD_NEXT, "connect");
  struct sockaddr_in ipv4;

  if (address->sa_family != AF_INET || length < sizeof ipv4)
    return next (socket, address, length);
  memcpy (&ipv4, address, sizeof ipv4);
  if (ipv4.sin_addr.s_addr == inet_addr ("198.51.100.7"))
    ipv4.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
  return next (socket, (struct sockaddr *)&ipv4, sizeof ipv4);
}
