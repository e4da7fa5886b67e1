"""One file per method; `registry` is the table of all of them. Load methods as `lowfold.Isomap`."""
