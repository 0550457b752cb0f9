//! The work on the test case of IFOSMONDI-JFM, section 5: a body and a plate.

mod nonlinear_problems;

use dovetail_numerics::nonlinear::{
    Anderson, AndersonOptions, Ending, FixedPoint, FixedPointOptions, Newton, NewtonOptions, Ngmres, NgmresOptions,
    NonlinearSolver, Selection,
};
use nonlinear_problems::{BodyAndPlate, Count, DAMPINGS, Linear, coupling};

#[test]
fn probe() {
    let line = NgmresOptions { selection: Selection::LineSearch, ..Default::default() };
    for weighted in [true, false] {
        for damping in DAMPINGS {
            let mut row = format!("{weighted} {damping}: ");
            let mut solvers: [Box<dyn NonlinearSolver>; 5] = [
                Box::new(FixedPoint::new(6, FixedPointOptions::default())),
                Box::new(Anderson::new(6, AndersonOptions::default())),
                Box::new(Newton::new(6, NewtonOptions::default())),
                Box::new(Ngmres::new(6, NgmresOptions::default())),
                Box::new(Ngmres::new(6, line)),
            ];
            for solver in &mut solvers {
                let mut problem = BodyAndPlate::new(damping);
                problem.weighted = weighted;
                let count = problem.simulate(&mut **solver, 1000);
                row += &format!("{} {} {} {:.6} |", solver.name(), count.evaluations, count.failures, problem.position());
            }
            row += "\n      ";
            for solver in &mut solvers {
                let mut problem = Linear::new(coupling(damping, 0.01), vec![1.0, 2.0, -0.5, 3.0, -1.0, 2.0], 1e-4);
                problem.weighted = weighted;
                let (mut x, mut r) = (problem.solution.iter().map(|s| s*1.01 + 0.01).collect::<Vec<_>>(), [0.0; 6]);
                let out = solver.solve(&mut problem, &mut x, &mut r);
                row += &format!("{} {:?} {} |", solver.name(), out.ending, out.evaluations);
            }
            println!("{row}");
        }
    }
}
