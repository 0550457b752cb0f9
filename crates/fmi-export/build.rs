//! The library stays in memory when an importer closes it: libraries of FMUs inside may have left threads and handlers that end in it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
