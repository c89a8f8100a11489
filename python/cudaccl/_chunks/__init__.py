# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures of labels in chunks of a picture, which cudaccl.dask adds up."""
