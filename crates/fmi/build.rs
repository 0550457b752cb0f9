//! Compiles the few lines of C that Rust cannot say: a variadic callback, and the guard against
//! crashing units.

fn main() {
    println!("cargo::rerun-if-changed=c/guard.c");
    cc::Build::new()
        .file("c/guard.c")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .compile("dovetail_guard");
}
