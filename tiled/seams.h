/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The components of tiles that touch a seam, as nodes of a union-find forest. Nodes are added tile
 * by tile in the order of labels, which is the raster order of the components' first pixels, and
 * the root of a set is its least node: the one with the component's first pixel.
 */
#pragma once

#include "tiled/parts/part.h"

typedef struct Node {
  uint64_t parent;        /* the index of a node; its own index in a root */
  uint64_t label;         /* of a root: the final label or 0; until labels are given, the number of
                           * components of its tile that get a label, precede it and touch no seam */
  CclPart part;           /* of a root: of all nodes of its set */
  uint32_t tile_label;    /* the label in its tile */
  bool is_foreign;        /* a root whose component begins in the slab of an earlier rank */
  CclMeasures measures[]; /* one, as part, if the plan has columns */
} Node;

typedef struct Seams {
  uint8_t *nodes; /* see node_at() */
  size_t node_size;
  uint64_t n;
  uint64_t capacity;
  int file;       /* that backs the nodes; -1: memory */
  bool has_reals; /* of the plan */
} Seams;

static inline Node *
node_at (const Seams *seams, uint64_t node)
{
  return (Node *)(seams->nodes + node * seams->node_size);
}

/* Prepares for the columns and the scratch folder of the plan. */
CclStatus seams_init (Seams *seams, const CclTiledPlan *plan, CclError *error);

/* Appends a set of one node. measures: NULL if the plan has no columns. Pointers to nodes become
 * invalid. */
CclStatus seams_add (Seams *seams, const CclPart *part, const CclMeasures *measures,
    uint32_t tile_label, uint64_t label, CclError *error);

/* The root of a node's set. Compresses the path. */
uint64_t seams_find (Seams *seams, uint64_t node);

/* Unites two sets. */
void seams_unite (Seams *seams, uint64_t a, uint64_t b);

/* Lets the system write the nodes to the scratch file and take their memory. */
void seams_rest (Seams *seams);

void seams_clear (Seams *seams);
