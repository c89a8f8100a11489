/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Wrong calls: the simulated driver returns the error of the real driver and prints a line with the
 * cause and, where useful, the calling file. Prints TAP.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *driver;
static int n_cases, n_failed, saved_stderr, captured;

/* The driver's function, under the name that cuda.h gives it. */
#define TEXT(name) #name
#define EXPANDED(name) TEXT (name)
#define CALL(name) (((__typeof__ (&name))find_function (EXPANDED (name))))

static void *
find_function (const char *name)
{
  void *function = dlsym (driver, name);
  if (!function) {
    printf ("Bail out! libcuda.so.1 lacks %s\n", name);
    exit (1);
  }
  return function;
}

/* Starts to capture stderr. */
static void
listen (void)
{
  fflush (stderr);
  if (ftruncate (captured, 0) || lseek (captured, 0, SEEK_SET) || dup2 (captured, 2) < 0)
    abort ();
}

/* Checks the returned error, and that stderr contains a text since listen (). */
static void
expect (CUresult result, CUresult expected, const char *part, const char *what)
{
  char said[1000] = "";
  fflush (stderr);
  ssize_t n = pread (captured, said, sizeof said - 1, 0);
  said[n > 0 ? n : 0] = 0;
  dup2 (saved_stderr, 2);
  bool passed = result == expected && strstr (said, part);
  n_cases++;
  n_failed += !passed;
  printf ("%sok %d %s\n", passed ? "" : "not ", n_cases, what);
  if (!passed)
    printf ("# returned %d, expected %d; said: %s (expected: %s)\n", result, expected, said, part);
}

static void
check_names (CUmodule module)
{
  void *address;
  CUfunction function;
  int (*lacking) (void) = find_function ("cuTexObjectCreate");

  listen ();
  expect (CALL (cuGetProcAddress) ("cuNobodyKnowsIt", &address, 12000, 0, NULL),
      CUDA_ERROR_NOT_FOUND, "no function cuNobodyKnowsIt (requested by ",
      "an unknown function: which, and who asked");
  listen ();
  expect (lacking (), CUDA_ERROR_NOT_SUPPORTED, "cuTexObjectCreate is not simulated (called by ",
      "a function that the simulator lacks: which, and who called");
  listen ();
  expect (CALL (cuModuleGetFunction) (&function, module, "ccl_no_such_kernel"),
      CUDA_ERROR_NOT_FOUND,
      "no kernel named ccl_no_such_kernel is part of the simulator (requested by ",
      "an unknown kernel: which, and who asked");
}

static void
check_launches (CUmodule module)
{
  CUfunction read, bounded;
  unsigned char parameters[256] = {0};
  void *one[] = {parameters}, *none[] = {NULL};

  CALL (cuModuleGetFunction) (&read, module, "ccl_bandwidth_read");
  CALL (cuModuleGetFunction) (&bounded, module, "ccl_analysis_collect");
  listen ();
  expect (CALL (cuLaunchKernel) (read, 1, 1, 1, 2048, 1, 1, 0, NULL, one, NULL),
      CUDA_ERROR_INVALID_VALUE,
      "ccl_bandwidth_read cannot be launched with 1 × 1 × 1 blocks of 2048",
      "too many threads in a block");
  listen ();
  expect (CALL (cuLaunchKernel) (read, 1, 70000, 1, 32, 1, 1, 0, NULL, one, NULL),
      CUDA_ERROR_INVALID_VALUE, "1 × 70000 × 1 blocks", "too many rows of blocks");
  listen ();
  expect (CALL (cuLaunchKernel) (read, 0, 1, 1, 32, 1, 1, 0, NULL, one, NULL),
      CUDA_ERROR_INVALID_VALUE, "0 × 1 × 1 blocks", "no blocks");
  listen ();
  expect (CALL (cuLaunchKernel) (read, 1, 1, 1, 32, 1, 1, 60000, NULL, one, NULL),
      CUDA_ERROR_INVALID_VALUE, "60000 bytes of shared memory",
      "more shared memory than the function was allowed");
  listen ();
  expect (CALL (cuLaunchKernel) (bounded, 1, 1, 1, 512, 1, 1, 0, NULL, one, NULL),
      CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "compiled for 256 threads a block",
      "more threads than __launch_bounds__ says");
  listen ();
  expect (CALL (cuLaunchKernel) (read, 1, 1, 1, 32, 1, 1, 0, NULL, none, NULL),
      CUDA_ERROR_INVALID_VALUE, "number 1 is missing", "a parameter that is missing");
}

static CUDA_MEMCPY2D
rows_from (CUdeviceptr from, size_t pitch, void *to, size_t width, size_t height)
{
  return (CUDA_MEMCPY2D){
      .srcMemoryType = CU_MEMORYTYPE_DEVICE,
      .srcDevice = from,
      .srcPitch = pitch,
      .dstMemoryType = CU_MEMORYTYPE_HOST,
      .dstHost = to,
      .dstPitch = width,
      .WidthInBytes = width,
      .Height = height,
  };
}

static void
check_copies (void)
{
  enum { PITCH = 100, WIDTH = 60, HEIGHT = 5 };
  static char host[PITCH * HEIGHT];
  CUDA_MEMCPY2D copy;
  CUdeviceptr whole, tight;

  CALL (cuMemAlloc) (&whole, PITCH * HEIGHT);
  CALL (cuMemAlloc) (&tight, PITCH * (HEIGHT - 1) + WIDTH);
  CALL (cuMemsetD8) (whole, 1, PITCH * HEIGHT);
  CALL (cuMemsetD8) (tight, 1, PITCH * (HEIGHT - 1) + WIDTH);

  listen ();
  copy = rows_from (whole, PITCH, host, WIDTH, HEIGHT);
  expect (CALL (cuMemcpy2D) (&copy), CUDA_SUCCESS, "", "rows with their pitch");
  listen ();
  copy = rows_from (tight, PITCH, host, WIDTH, HEIGHT);
  expect (CALL (cuMemcpy2D) (&copy), CUDA_ERROR_INVALID_VALUE,
      "not inside one allocation of device memory", "the pitch of the last row passes the end");
  listen ();
  copy = rows_from (tight + PITCH * (HEIGHT - 1), WIDTH, host, WIDTH, 1);
  expect (CALL (cuMemcpy2D) (&copy), CUDA_SUCCESS, "", "the last row by itself");
  listen ();
  copy = rows_from (whole, WIDTH - 1, host, WIDTH, HEIGHT);
  expect (CALL (cuMemcpy2D) (&copy), CUDA_ERROR_INVALID_VALUE, "", "rows longer than their pitch");
  listen ();
  expect (CALL (cuMemcpyDtoH) (host, whole + 1, PITCH * HEIGHT), CUDA_ERROR_INVALID_VALUE,
      "not inside one allocation of device memory", "a copy past the end");
  listen ();
  expect (CALL (cuMemcpyHtoD) (whole, (void *)tight, 10), CUDA_ERROR_INVALID_VALUE,
      "is device memory, but host memory is needed", "device memory as the host's side to read");
  listen ();
  expect (CALL (cuMemcpyDtoH) ((void *)tight, whole, 10), CUDA_ERROR_INVALID_VALUE,
      "is device memory, but host memory is needed", "device memory as the host's side to write");
  listen ();
  expect (CALL (cuMemcpyHtoD) ((CUdeviceptr)host, host, 10), CUDA_ERROR_INVALID_VALUE,
      "not inside one allocation of device memory", "host memory as the device's side");
  CALL (cuMemFree) (whole);
  listen ();
  expect (CALL (cuMemFree) (whole), CUDA_ERROR_INVALID_VALUE, "", "memory that is freed twice");
  CALL (cuMemFree) (tight);
}

int
main (void)
{
  CUdevice device;
  CUcontext context;
  CUmodule module;
  FILE *file = tmpfile ();

  driver = dlopen ("libcuda.so.1", RTLD_NOW);
  if (!driver || !dlsym (driver, "simcuda_get_statistics")) {
    printf ("1..0 # SKIP %s\n", driver ? "this is not the simulated driver" : "no CUDA driver");
    return 0;
  }
  saved_stderr = dup (2);
  captured = fileno (file);
  if (CALL (cuInit) (0) || CALL (cuDeviceGet) (&device, 0) ||
      CALL (cuDevicePrimaryCtxRetain) (&context, device) || CALL (cuCtxPushCurrent) (context) ||
      CALL (cuModuleLoadData) (&module, "anything")) {
    printf ("Bail out! the simulated driver does not start\n");
    return 1;
  }
  check_names (module);
  check_launches (module);
  check_copies ();
  CALL (cuModuleUnload) (module);
  CALL (cuCtxPopCurrent) (&context);
  CALL (cuDevicePrimaryCtxRelease) (device);
  fclose (file);
  printf ("1..%d\n", n_cases);
  return n_failed > 0;
}
