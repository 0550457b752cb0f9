//! Couples two systems of this program: a mass, and the spring that holds it.

use dovetail::{Coupling, Error, FnSystem};

fn main() -> Result<(), Error> {
    let [mut speed, mut x] = [0.0, 1.0];
    let mass = FnSystem::new("mass", &["force"], &["x"], move |step, input, output| {
        speed += step.size() * input[0];
        x += step.size() * speed;
        output[0] = x;
    });
    let spring = FnSystem::new("spring", &["x"], &["force"], |_, input, output| {
        output[0] = -input[0];
    });
    let run = Coupling::new()
        .system(mass)
        .system(spring.with_feedthrough())
        .connect("mass.x", "spring.x")
        .connect("spring.force", "mass.force")
        .method("gauss-seidel")
        .option("step", 0.001)
        .run(0.0..10.0)?;
    println!(
        "x = {:.4} after 10 s; the exact solution is {:.4}",
        run.last("mass.x")?,
        10f64.cos()
    );
    Ok(())
}
