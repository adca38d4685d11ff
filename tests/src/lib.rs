//! Black-box suites.
