/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "algorithm.h"

bool
ccl_cuda_algorithm_has (const CclAlgorithm *algorithm, uint32_t connectivity)
{
  switch (connectivity) {
  case 4:
    return algorithm->connectivities & CUDACCL_OFFERS_4;
  case 8:
    return algorithm->connectivities & CUDACCL_OFFERS_8;
  case 6:
    return algorithm->connectivities & CUDACCL_OFFERS_6;
  case 18:
    return algorithm->connectivities & CUDACCL_OFFERS_18;
  case 26:
    return algorithm->connectivities & CUDACCL_OFFERS_26;
  default:
    return false;
  }
}
