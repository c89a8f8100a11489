/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes decision trees for labelling that test as few pixels as possible, on average over all
 * frames: which pixels around the current pixel (or block of 2×2) to test in which order, until it
 * is known which neighbours it must be united with.
 *
 *   generate sauf | sauf4 | bbdt | drag > FILE
 *
 * sauf: one pixel and the four neighbours before it.
 * sauf4: the same with 4-connectivity.
 * bbdt: a block and the four blocks before it.
 * drag: the same tree with equal subtrees shared, which makes it a graph.
 *
 * Grana, Montangero, Borghesani: Optimal decision trees for local image processing algorithms,
 * Pattern Recognition Letters 33(16), 2012: a state gives each pixel one of the values unknown,
 * background and foreground. A state for which one action is right in all frames that agree with it
 * is a leaf. Any other state tests the pixel with the least expected number of further tests.
 * Dynamic programming over all 3^n states, from those with all pixels known to the one with none.
 * Sharing: Bolelli, Baraldi, Cancilla, Grana: Connected Components Labeling on DRAGs, ICPR 2018.
 *
 * An action is a set of neighbours. Of neighbours that are connected with each other, any one may
 * be united with the current block; that choice makes trees small. The output is C with macros that
 * the including file defines: IS (o) is whether a pixel is foreground, UNITE (P) unites with a
 * neighbour.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { P, Q, R, S, N_NEIGHBOURS };

/* The neighbourhood of the current pixel or block. Functions get the foreground pixels as bits. */
typedef struct Mask {
  const char *pixels;                                  /* their names, in the order of bits */
  bool (*touches) (uint32_t pixels, int neighbour);    /* the current one and a neighbour */
  bool (*touch) (uint32_t pixels, int one, int other); /* two neighbours, one < other */
} Mask;

/* Pixels:  p q r
 *          s x    */
static const char pixel_names[] = "xpqrs";

static bool
is_set (const char *names, uint32_t pixels, char name)
{
  return pixels >> (strchr (names, name) - names) & 1;
}

static bool
pixel_touches (uint32_t pixels, int neighbour)
{
  return is_set (pixel_names, pixels, 'x') && is_set (pixel_names, pixels, "pqrs"[neighbour]);
}

static bool
pixels_touch (uint32_t pixels, int one, int other)
{
  bool are_near = (one == P && other == Q) || (one == Q && other == R) ||
                  (one == P && other == S) || (one == Q && other == S);
  return are_near && is_set (pixel_names, pixels, "pqrs"[one]) &&
         is_set (pixel_names, pixels, "pqrs"[other]);
}

/* With 4-connectivity only q and s touch x. They are in one component already if p is foreground.
 */
static const char pixel_names_4[] = "xqsp";

static bool
pixel_touches_4 (uint32_t pixels, int neighbour)
{
  return (neighbour == Q || neighbour == S) && is_set (pixel_names_4, pixels, 'x') &&
         is_set (pixel_names_4, pixels, "pqrs"[neighbour]);
}

static bool
pixels_touch_4 (uint32_t pixels, int one, int other)
{
  return one == P && (other == Q || other == S) && is_set (pixel_names_4, pixels, 'p') &&
         is_set (pixel_names_4, pixels, "pqrs"[other]);
}

/* Blocks:  P  Q  R    Pixels:  a b c d e f    The last one of X and those of a neighbour that
 *          S  X                g h i j k l    nothing here touches are left out.
 *                              m n o p
 *                              q r s t                                                      */
static const char block_names[] = "opsnrijhkmgbcde";

#define IS(name) is_set (block_names, pixels, name)

static bool
block_touches (uint32_t pixels, int neighbour)
{
  switch (neighbour) {
  case P:
    return IS ('h') && IS ('o');
  case Q:
    return (IS ('i') || IS ('j')) && (IS ('o') || IS ('p'));
  case R:
    return IS ('k') && IS ('p');
  default:
    return (IS ('n') || IS ('r')) && (IS ('o') || IS ('s'));
  }
}

static bool
blocks_touch (uint32_t pixels, int one, int other)
{
  if (one == P && other == Q)
    return (IS ('b') || IS ('h')) && (IS ('c') || IS ('i'));
  if (one == Q && other == R)
    return (IS ('d') || IS ('j')) && (IS ('e') || IS ('k'));
  if (one == P && other == S)
    return (IS ('g') || IS ('h')) && (IS ('m') || IS ('n'));
  if (one == Q && other == S)
    return IS ('i') && IS ('n');
  return false;
}

#undef IS

static const Mask pixel_mask = {pixel_names, pixel_touches, pixels_touch};
static const Mask pixel_mask_4 = {pixel_names_4, pixel_touches_4, pixels_touch_4};
static const Mask block_mask = {block_names, block_touches, blocks_touch};

/* The actions that are right for a frame, as a set of sets of neighbours: one bit for each of
 * the 16 sets. */
static uint16_t
right_actions (const Mask *mask, uint32_t pixels)
{
  int group[N_NEIGHBOURS] = {P, Q, R, S};
  bool touches[N_NEIGHBOURS];
  uint16_t actions = 0;

  for (int i = 0; i < N_NEIGHBOURS; i++)
    touches[i] = mask->touches (pixels, i);
  for (int i = 0; i < N_NEIGHBOURS; i++) {
    for (int j = i + 1; j < N_NEIGHBOURS; j++) {
      if (!mask->touch (pixels, i, j))
        continue;
      for (int k = 0, old = group[j]; k < N_NEIGHBOURS; k++) {
        if (group[k] == old)
          group[k] = group[i];
      }
    }
  }
  for (uint32_t action = 0; action < 1u << N_NEIGHBOURS; action++) {
    bool is_right = true;
    for (int i = 0; i < N_NEIGHBOURS; i++) {
      /* Exactly one neighbour of each group that touches, and no neighbour that does not touch. */
      int n_touching = 0, n_chosen = 0;
      for (int k = 0; k < N_NEIGHBOURS; k++) {
        n_touching += group[k] == i && touches[k];
        n_chosen += group[k] == i && touches[k] && (action >> k & 1);
      }
      is_right &= n_chosen == (n_touching > 0) && !((action >> i & 1) && !touches[i]);
    }
    if (is_right)
      actions |= 1u << action;
  }
  return actions;
}

/* A tree, later a graph. */
typedef struct Node {
  int pixel;            /* to test; -1 in a leaf */
  struct Node *next[2]; /* background, foreground */
  uint16_t actions;     /* of a leaf: those that are right */
  struct Node *same;    /* another node that stands for this one, or NULL */
  int n_uses;
  int number;               /* 0 until written */
  struct Node *made_before; /* free_nodes() */
} Node;

/* What is known best about each state; a state's number has a digit for each pixel, to base 3: 0
 * background, 1 foreground, 2 unknown. */
typedef struct States {
  int n_pixels;
  uint32_t *tests; /* expected tests, times the frames that the state stands for */
  uint16_t *actions;
  int8_t *pixel; /* to test next */
} States;

static void *
allocate (size_t n, size_t size)
{
  void *memory = calloc (n, size);
  if (!memory) {
    fprintf (stderr, "generate: out of memory\n");
    exit (1);
  }
  return memory;
}

static void
free_states (States *states)
{
  free (states->tests);
  free (states->actions);
  free (states->pixel);
}

static States
solve (const Mask *mask)
{
  States states = {.n_pixels = strlen (mask->pixels)};
  uint32_t powers[17] = {1};
  for (int i = 0; i < states.n_pixels; i++)
    powers[i + 1] = 3 * powers[i];
  uint32_t n_states = powers[states.n_pixels];
  states.tests = allocate (n_states, sizeof *states.tests);
  states.actions = allocate (n_states, sizeof *states.actions);
  states.pixel = allocate (n_states, sizeof *states.pixel);

  /* A state with one more known pixel has a lower number, so the states that a state depends on
   * come before it. */
  for (uint32_t state = 0; state < n_states; state++) {
    uint32_t pixels = 0, n_frames = 1;
    int first_unknown = -1;
    for (int i = states.n_pixels - 1; i >= 0; i--) {
      uint32_t digit = state / powers[i] % 3;
      pixels |= (digit == 1) << i;
      if (digit == 2) {
        n_frames *= 2;
        first_unknown = i;
      }
    }
    if (first_unknown < 0) {
      states.actions[state] = right_actions (mask, pixels);
      continue;
    }
    states.actions[state] = states.actions[state - 2 * powers[first_unknown]] &
                            states.actions[state - powers[first_unknown]];
    if (states.actions[state])
      continue;
    states.tests[state] = UINT32_MAX;
    for (int i = 0; i < states.n_pixels; i++) {
      if (state / powers[i] % 3 != 2)
        continue;
      uint32_t tests =
          n_frames + states.tests[state - 2 * powers[i]] + states.tests[state - powers[i]];
      if (tests < states.tests[state]) {
        states.tests[state] = tests;
        states.pixel[state] = i;
      }
    }
  }
  return states;
}

static Node *last_made;

static void
free_nodes (void)
{
  while (last_made) {
    Node *node = last_made;
    last_made = node->made_before;
    free (node);
  }
}

static Node *
build (const States *states, uint32_t state)
{
  Node *node = allocate (1, sizeof *node);
  node->made_before = last_made;
  last_made = node;
  node->pixel = -1;
  node->actions = states->actions[state];
  if (!node->actions) {
    uint32_t power = 1;
    node->pixel = states->pixel[state];
    for (int i = 0; i < node->pixel; i++)
      power *= 3;
    node->next[0] = build (states, state - 2 * power);
    node->next[1] = build (states, state - power);
  }
  return node;
}

static Node *
resolve (Node *node)
{
  while (node->same)
    node = node->same;
  return node;
}

static int
size (const Node *node)
{
  return node->pixel < 0 ? 1 : 1 + size (node->next[0]) + size (node->next[1]);
}

/* A change that may have to be taken back. */
typedef struct Change {
  Node *node;
  Node old;
} Change;

static Change changes[100000];
static int n_changes;

static void
note_change (Node *node)
{
  changes[n_changes++] = (Change){node, *node};
}

/* Lets one node stand for another one: they test the same pixels, and in all leaves there is
 * an action that is right for both. May leave half of it done when it gives false. */
static bool
unify (Node *node, Node *with)
{
  node = resolve (node);
  with = resolve (with);
  if (node == with)
    return true;
  if (node->pixel != with->pixel)
    return false;
  if (node->pixel < 0) {
    if (!(node->actions & with->actions))
      return false;
    note_change (with);
    with->actions &= node->actions;
  } else if (!unify (node->next[0], with->next[0]) || !unify (node->next[1], with->next[1])) {
    return false;
  }
  note_change (node);
  node->same = with;
  return true;
}

static Node *nodes[100000];
static int n_nodes;

static void
collect (Node *node)
{
  if (node->pixel < 0)
    return;
  nodes[n_nodes++] = node;
  collect (node->next[0]);
  collect (node->next[1]);
}

static int
compare_sizes (const void *a, const void *b)
{
  return size (*(Node *const *)b) - size (*(Node *const *)a);
}

/* Shares equal subtrees, the largest ones first. */
static void
share (Node *root)
{
  collect (root);
  qsort (nodes, n_nodes, sizeof *nodes, compare_sizes);
  for (int i = 0; i < n_nodes; i++) {
    for (int j = 0; j < i && !nodes[i]->same; j++) {
      n_changes = 0;
      if (nodes[j]->same || unify (nodes[i], nodes[j]))
        continue;
      while (n_changes > 0) {
        n_changes--;
        *changes[n_changes].node = changes[n_changes].old;
      }
    }
  }
}

static void
count_uses (Node *node)
{
  node = resolve (node);
  if (node->n_uses++ == 0 && node->pixel >= 0) {
    count_uses (node->next[0]);
    count_uses (node->next[1]);
  }
}

static int n_tests, n_leaves, n_labels;

static void
write_node (const Mask *mask, Node *node, int depth)
{
  node = resolve (node);
  if (node->pixel < 0) {
    int action = __builtin_ctz (node->actions);
    n_leaves++;
    printf ("%*s", depth, "");
    for (int i = 0; i < N_NEIGHBOURS; i++) {
      if (action >> i & 1)
        printf ("UNITE (%c); ", "PQRS"[i]);
    }
    printf ("return;\n");
    return;
  }
  if (node->number) {
    printf ("%*sgoto test_%d;\n", depth, "", node->number);
    return;
  }
  n_tests++;
  node->number = -1;
  if (node->n_uses > 1) {
    node->number = ++n_labels;
    printf ("test_%d:\n", node->number);
  }
  printf ("%*sif (IS (%c)) {\n", depth, "", mask->pixels[node->pixel]);
  write_node (mask, node->next[1], depth + 1);
  printf ("%*s} else {\n", depth, "");
  write_node (mask, node->next[0], depth + 1);
  printf ("%*s}\n", depth, "");
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *name;
    const Mask *mask;
    bool is_shared;
  } trees[] = {
      {"sauf", &pixel_mask, false},
      {"sauf4", &pixel_mask_4, false},
      {"bbdt", &block_mask, false},
      {"drag", &block_mask, true},
  };
  const size_t n_trees = sizeof trees / sizeof *trees;
  size_t tree = 0;
  while (argc == 2 && tree < n_trees && strcmp (argv[1], trees[tree].name))
    tree++;
  if (argc != 2 || tree == n_trees) {
    fprintf (stderr, "usage: generate sauf | sauf4 | bbdt | drag > FILE\n");
    return 2;
  }
  const Mask *mask = trees[tree].mask;
  States states = solve (mask);
  uint32_t nothing_known = 1;
  for (int i = 0; i < states.n_pixels; i++)
    nothing_known *= 3;
  nothing_known--;

  Node *root = build (&states, nothing_known);
  if (trees[tree].is_shared)
    share (root);
  count_uses (root);
  printf ("/* SPDX-License-Identifier: LGPL-2.1-or-later */\n");
  printf ("/* Generated by decision-trees/generate.c: %s. */\n", argv[1]);
  write_node (mask, root, 0);
  printf ("/* %d tests and %d leaves; on the average %.4f tests when every pixel is as often\n"
          " * foreground as background. */\n",
      n_tests, n_leaves, (double)states.tests[nothing_known] / (1u << states.n_pixels));
  free_nodes ();
  free_states (&states);
  return 0;
}
