# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which labels touch, for label_file()."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import _cudaccl
from .outputs import NpyFile

contact_dtype = np.dtype([("label", np.int64), ("neighbour", np.int64), ("contact", np.int64)])


class ContactFile:
    """A file of the pairs of labels that touch: rows of contact_dtype in ascending order."""

    def __init__(self, path: str, shape: tuple[int, ...], connectivity: int, comm: Any) -> None:
        self._shape, self._connectivity = shape, connectivity
        self.file = NpyFile(path, comm)

    def begin(self, n_bytes: int) -> None:
        height = self._shape[1] if len(self._shape) == 3 else 1
        self._contacts = _cudaccl.Contacts(self._shape[-1], height, self._connectivity, n_bytes)

    def write(self, data: memoryview, n_layers: int) -> None:
        self._contacts.add(data, n_layers)

    def finish(self) -> None:
        """Writes the pairs when all labels are known."""
        rows = np.frombuffer(self._contacts.rows(), contact_dtype)
        self.file.begin(contact_dtype, rows.shape)
        self.file.write(0, memoryview(rows.tobytes()))
