/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processors that a process may use: quotas in trees of files as systems and containers have
 * them, and of a real control group where one can be made. */
#define _GNU_SOURCE

#include "cpu/base/processors.h"
#include "cpu/base/workers.h"
#include <cudaccl/log.h>

#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Lines of /proc/self/mountinfo. */
#define V2 "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1 "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
#define V1_SET "35 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
#define V1_DOCKER                                                                                  \
  "33 31 0:30 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro master:9 - cgroup cgroup rw,cpu,cpuacct\n"
#define DISK "23 1 8:1 / / rw - ext4 /dev/sda1 rw\n"

typedef struct {
  const char *name, *mounts, *groups;
  const char *files[6]; /* names below /sys/fs/cgroup and contents */
  double quota;         /* processors */
} Case;

static const Case cases[] = {
    {"no-files", NULL, NULL, {NULL}, INFINITY},
    {"no-control-groups", DISK, "", {NULL}, INFINITY},
    {"v2-without-quota", DISK V2, "0::/\n", {"cpu.max", "max 100000\n"}, INFINITY},
    {"v2-container", DISK V2, "0::/\n", {"cpu.max", "150000 100000\n"}, 1.5},
    {"v2-half", V2, "0::/\n", {"cpu.max", "50000 100000\n"}, 0.5},
    {"v2-service", V2, "0::/system.slice/a.service\n",
        {"system.slice/a.service/cpu.max", "20000 10000\n", "system.slice/cpu.max", "max 100000\n"},
        2},
    {"v2-ancestor", V2, "0::/kubepods/pod1/c\n",
        {"kubepods/pod1/c/cpu.max", "400000 100000\n", "kubepods/pod1/cpu.max", "250000 100000\n",
            "kubepods/cpu.max", "800000 100000\n"},
        2.5},
    {"v2-outside-of-the-namespace", V2, "0::/../other\n", {"cpu.max", "100000 100000\n"}, 1},
    {"v2-damaged", V2, "0::/\n", {"cpu.max", "often\n"}, INFINITY},
    {"v2-period-of-zero", V2, "0::/\n", {"cpu.max", "100000 0\n"}, INFINITY},
    {"v1-without-quota", V1 V1_SET, "4:cpu,cpuacct:/\n3:cpuset:/x\n",
        {"cpu,cpuacct/cpu.cfs_quota_us", "-1\n", "cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
        INFINITY},
    {"v1-group", V1_SET V1, "3:cpuset:/x\n4:cpu,cpuacct:/a\n",
        {"cpu,cpuacct/a/cpu.cfs_quota_us", "30000\n", "cpu,cpuacct/a/cpu.cfs_period_us", "20000\n"},
        1.5},
    {"v1-docker", DISK V1_DOCKER, "4:cpu,cpuacct:/docker/abc\n",
        {"cpu,cpuacct/cpu.cfs_quota_us", "250000\n", "cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
        2.5},
    {"v1-of-another-container", DISK V1_DOCKER, "4:cpu,cpuacct:/docker/abcdef\n",
        {"cpu,cpuacct/cpu.cfs_quota_us", "250000\n", "cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
        2.5},
    {"both-versions", V1 V2, "1:cpu,cpuacct:/a\n0::/b\n",
        {"cpu,cpuacct/a/cpu.cfs_quota_us", "90000\n", "cpu,cpuacct/a/cpu.cfs_period_us", "30000\n",
            "b/cpu.max", "100000 100000\n"},
        1},
};

static void
write_file (const char *root, const char *folder, const char *name, const char *content)
{
  g_autofree gchar *path = g_strconcat (root, folder, name, NULL);
  g_autofree gchar *parent = g_path_get_dirname (path);

  g_assert_cmpint (g_mkdir_with_parents (parent, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, content, -1, NULL));
}

static void
remove_tree (const char *root)
{
  const char *const command[] = {"rm", "-rf", root, NULL};
  g_assert_true (g_spawn_sync (
      NULL, (gchar **)command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
}

static void
test_quota (gconstpointer data)
{
  const Case *c = data;
  g_autofree gchar *root = g_dir_make_tmp ("ccl-processors-XXXXXX", NULL);

  if (c->mounts)
    write_file (root, "/proc/self/", "mountinfo", c->mounts);
  if (c->groups)
    write_file (root, "/proc/self/", "cgroup", c->groups);
  for (guint i = 0; i < G_N_ELEMENTS (c->files) && c->files[i]; i += 2)
    write_file (root, "/sys/fs/cgroup/", c->files[i], c->files[i + 1]);
  g_assert_cmpfloat (processors_quota (root), ==, c->quota);
  remove_tree (root);
}

/* Makes a control group with half of a processor and moves this process into it. */
static gboolean
enter_group (const char *folder, gboolean is_version_1)
{
  g_autofree gchar *quota =
      g_build_filename (folder, is_version_1 ? "cpu.cfs_quota_us" : "cpu.max", NULL);
  g_autofree gchar *members = g_build_filename (folder, "cgroup.procs", NULL);
  FILE *file = fopen (quota, "w");

  if (!file || fputs (is_version_1 ? "50000" : "50000 100000", file) < 0 || fclose (file) != 0)
    return FALSE;
  file = fopen (members, "w");
  return file && fprintf (file, "%d", (int)getpid ()) > 0 && fclose (file) == 0;
}

/* The warning that threads do not spin. */
static void
note_warning (CclLogLevel level, const char *message, void *has_warned)
{
  if (level == CUDACCL_LOG_WARNING && strstr (message, "so 2 threads sleep between two frames"))
    *(bool *)has_warned = true;
}

/* In the group: 0 if all is right, 77 if the group cannot be used. */
static int
check_in_group (const char *folder, gboolean is_version_1)
{
  if (!enter_group (folder, is_version_1))
    return 77;
  const Processors found = processors_find ();
  bool has_warned = false;
  ccl_set_log_func (note_warning, &has_warned);
  Workers *workers = workers_new (2);
  const bool is_right = found.n == 1 && found.has_quota && workers && has_warned &&
                        workers_choose_number (0, 1 << 24, 1, 1000) == 1 &&
                        workers_choose_number (3, 1 << 24, 1, 1000) == 3;
  workers_free (workers);
  return is_right ? 0 : 1;
}

static void
test_real_group (void)
{
  static const char *const hierarchies[] = {
      "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup"};
  gboolean is_checked = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (hierarchies) && !is_checked; i++) {
    g_autofree gchar *folder = g_strdup_printf ("%s/ccl-test-%d", hierarchies[i], (int)getpid ());
    int status = 0;
    if (g_mkdir (folder, 0755) != 0)
      continue;
    const pid_t child = fork ();
    if (child == 0)
      _exit (check_in_group (folder, i < 2));
    g_assert_cmpint (waitpid (child, &status, 0), ==, child);
    g_assert_true (WIFEXITED (status));
    is_checked = WEXITSTATUS (status) != 77;
    if (is_checked)
      g_assert_cmpint (WEXITSTATUS (status), ==, 0);
    g_rmdir (folder);
  }
  if (!is_checked)
    g_test_skip ("no control group can be made here");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = g_strdup_printf ("/processors/%s", cases[i].name);
    g_test_add_data_func (path, &cases[i], test_quota);
  }
  g_test_add_func ("/processors/real-group", test_real_group);
  return g_test_run ();
}
