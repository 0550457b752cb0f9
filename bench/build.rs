//! Compiles the bare loop that a ring of FMUs is measured against.

fn main() {
    println!("cargo::rerun-if-changed=c/bare_ring.c");
    cc::Build::new()
        .file("c/bare_ring.c")
        .opt_level(2)
        .warnings(true)
        .compile("bare_ring");
}
