//! Nothing but tests: methods, bounds and workers on whole models.
