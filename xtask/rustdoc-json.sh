#!/bin/sh
# rustdoc that writes JSON, which a stable compiler gives only if it is asked like this.
exec env RUSTC_BOOTSTRAP=1 rustdoc "$@" -Z unstable-options --output-format json
