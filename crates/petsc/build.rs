//! Finds PETSc and MPI for the linker, by pkg-config or where Debian puts them; nothing without the feature.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if std::env::var_os("CARGO_FEATURE_PETSC").is_none() {
        return;
    }

    match libraries("PETSc").or_else(|| libraries("petsc")) {
        Some(flags) => link(&flags),
        None => link("-L/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real/lib -lpetsc_real"),
    }
    // MPI_COMM_SELF is a symbol of Open MPI's library, not of PETSc's.
    link(&libraries("ompi-c").unwrap_or_else(|| "-lmpi".to_owned()));
}

/// What pkg-config says a program using `package` is linked with.
fn libraries(package: &str) -> Option<String> {
    let output = Command::new("pkg-config")
        .args(["--libs", package])
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Passes `-L` and `-l` on to the linker.
fn link(flags: &str) {
    for flag in flags.split_whitespace() {
        if let Some(folder) = flag.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(library) = flag.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={library}");
        }
    }
}
