"""The studio: a page in the browser on which a person goes from a file to a picture that can be defended.

    lowfold studio data.csv

The server (`_server.py`) answers that page only (`_guard.py`) and computes nothing; what is computed runs in processes
of their own (`_jobs.py`, `_job.py`). Needs the extra `studio`.
"""

from __future__ import annotations

from lowfold.studio._serve import studio

__all__ = ["studio"]
