/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The settings from environment variables; README.md lists them. */
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace simcuda {

enum class Order {
  lazy,  /* an operation runs only when a caller waits for it */
  eager, /* an operation starts at once, on the device thread */
};

struct Settings {
  int n_devices = 1;
  std::string name = "Simulated CUDA device";
  int compute_capability = 90; /* 90 for 9.0 */
  int n_multiprocessors = 4;
  uint64_t memory = 4ull << 30;  /* bytes per device */
  std::map<int, int> attributes; /* values that replace the defaults, by CUdevice_attribute */
  Order order = Order::lazy;
  uint64_t seed = 0;      /* 0: fixed order */
  unsigned timeout = 300; /* longest wait, in seconds */
  bool report_leaks = false;
};

/* Read from the environment at the first call. */
const Settings &settings ();

/* Prints a line to stderr. */
void complain (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

/* Random numbers that depend on the seed only. */
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
