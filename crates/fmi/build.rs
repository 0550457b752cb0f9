//! Compiles the few lines of C that Rust cannot say: a variadic callback, the guard against
//! crashing FMUs, legs of steps behind it, what FMUs change, and the parent that sees how the program ends.

fn main() {
    println!("cargo::rerun-if-changed=c");
    cc::Build::new()
        .files(["c/guard.c", "c/leg.c", "c/surroundings.c", "c/supervisor.c"])
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .compile("dovetail_guard");
}
