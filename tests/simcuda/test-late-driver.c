/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A driver that cannot be used yet: a failure is not stored, so that a process finds a driver
 * or a device that comes later. SIMCUDA_LIBRARY is the path of the simulated driver.
 */
#include <dlfcn.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include <cudaccl/device.h>

static void
assert_no_device (const char *reason)
{
  CclError error = {CUDACCL_OK};
  g_assert_null (ccl_cuda_device_open (-1, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_NOT_FOUND);
  g_assert_nonnull (strstr (error.message, reason));
}

static void
assert_device (void)
{
  CclError error = {CUDACCL_OK};
  CclCudaDevice *device = ccl_cuda_device_open (-1, &error);
  g_assert_cmpstr (error.message, ==, "");
  g_assert_nonnull (device);
  ccl_cuda_device_unref (&device);
}

/* Runs a test in a process of its own: the linker reads LD_LIBRARY_PATH when a process starts. */
static bool
is_in_subprocess (void)
{
  if (g_test_subprocess ())
    return true;
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed ();
  return false;
}

static void
test_device_that_comes_later (void)
{
  if (!g_test_subprocess ())
    g_setenv ("SIMCUDA_FAULT", "init:1:100", TRUE);
  if (is_in_subprocess ()) {
    assert_no_device ("CUDA_ERROR_NO_DEVICE");
    g_unsetenv ("SIMCUDA_FAULT");
    assert_device ();
  }
  g_unsetenv ("SIMCUDA_FAULT");
}

static void
test_library_that_comes_later (void)
{
  g_autofree char *folder =
      g_test_subprocess () ? NULL : g_dir_make_tmp ("late-driver-XXXXXX", NULL);
  g_autofree char *former = g_strdup (g_getenv ("LD_LIBRARY_PATH"));

  if (folder)
    g_setenv ("LD_LIBRARY_PATH", folder, TRUE);
  if (is_in_subprocess ()) {
    g_autofree char *name = g_build_filename (former, "libcuda.so.1", NULL);
    if (dlopen ("libcuda.so.1", RTLD_NOW))
      return; /* a driver is installed here */
    assert_no_device ("no NVIDIA driver");
    g_assert_cmpint (symlink (g_getenv ("SIMCUDA_LIBRARY"), name), ==, 0);
    assert_device ();
    return;
  }
  g_autofree char *name = g_build_filename (folder, "libcuda.so.1", NULL);
  g_unlink (name);
  g_rmdir (folder);
  g_setenv ("LD_LIBRARY_PATH", former, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/late-driver/device", test_device_that_comes_later);
  g_test_add_func ("/late-driver/library", test_library_that_comes_later);
  return g_test_run ();
}
