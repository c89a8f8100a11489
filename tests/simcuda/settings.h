/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the environment asks of the simulator; README.md lists the variables. */
#ifndef SIMCUDA_SETTINGS_H
#define SIMCUDA_SETTINGS_H

#include <cstdint>
#include <map>
#include <string>

namespace simcuda {

enum class Order {
  lazy,  /* work happens only when somebody waits for it */
  eager, /* work happens at once, on the device's thread */
};

struct Settings {
  int n_devices = 1;
  std::string name = "Simulated CUDA device";
  int compute_capability = 90; /* 90 for 9.0 */
  int n_multiprocessors = 4;
  uint64_t memory = 4ull << 30; /* bytes a device */
  std::map<int, int>
      attributes; /* CUdevice_attribute to its value, where it is not the usual one */
  Order order = Order::lazy;
  uint64_t seed = 0;      /* 0: always the same, plain order */
  unsigned timeout = 300; /* seconds that a wait may last */
  bool report_leaks = false;
};

/* Read once. */
const Settings &settings ();

/* A line on stderr, for the one who runs the tests. */
void complain (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

/* Numbers that depend on the seed alone. */
class Random {
public:
  explicit Random (uint64_t seed) : state_ (seed * 0x9e3779b97f4a7c15ull + 1)
  {
  }

  uint64_t
  next ()
  {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1dull >> 16;
  }

  /* 0…n-1 */
  uint32_t
  below (uint32_t n)
  {
    return uint32_t ((next () & 0xffffffff) * n >> 32);
  }

private:
  uint64_t state_;
};

} /* namespace simcuda */

#endif /* SIMCUDA_SETTINGS_H */
