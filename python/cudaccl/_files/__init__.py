# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures in files: label_file(), and the mask, the tables and the label map that it reads and writes."""
