/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The version of the library. Since: 0.3 */
#ifndef CUDACCL_VERSION_H
#define CUDACCL_VERSION_H

/* Marks the functions that the shared library exports. */
#ifndef CUDACCL_API
#define CUDACCL_API __attribute__ ((visibility ("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers. */
#define CUDACCL_VERSION_MAJOR 0
#define CUDACCL_VERSION_MINOR 4
#define CUDACCL_VERSION_MICRO 0

/* A version as one number, for comparisons; minor and micro are 0…255. */
#define CUDACCL_VERSION_NUMBER(major, minor, micro) ((major) << 16 | (minor) << 8 | (micro))

/* Whether these headers are of this version or a later one; for #if. */
#define CUDACCL_CHECK_VERSION(major, minor, micro)                                                 \
  (CUDACCL_VERSION_NUMBER (CUDACCL_VERSION_MAJOR, CUDACCL_VERSION_MINOR, CUDACCL_VERSION_MICRO) >= \
      CUDACCL_VERSION_NUMBER (major, minor, micro))

/* The version of the library that the program runs with, as CUDACCL_VERSION_NUMBER() makes it: a
 * program can be built with the headers of another one. Thread safe. Since: 0.3 */
CUDACCL_API
unsigned ccl_version (void);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_VERSION_H */
