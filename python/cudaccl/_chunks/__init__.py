# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is measured of labels in chunks of a picture, and added up: for cudaccl.dask."""
