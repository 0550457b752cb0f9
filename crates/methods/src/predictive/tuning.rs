//! The numbers that the method is tuned by, each with its origin.
//!
//! *By trial* means: chosen by trial on the examples and on models from rest; no formula and no
//! better origin is known. The numbers were chosen on problems on which the method is also judged:
//! what it shows there is not independent of them.

// Steps of its own choice.

/// What a step may leave in the states for a tolerance of 1, in units of their ranges: the 0.15 of
/// `θ`. By trial, as in MISSILES.
pub(super) const ALLOWED: f64 = 0.15;
/// Refusals of one step before it is taken nevertheless. By trial.
pub(super) const MOST_REFUSALS: usize = 8;
/// By how much what is known before integrating may exceed its share: the interpolation error, and
/// that of the ends as expected, which is known less well. By trial.
pub(super) const MARGINS: [f64; 2] = [1.5, 3.0];
/// By how much the error of the ends may exceed its share before the step is corrected, where it
/// can be. By trial.
pub(super) const PATIENCE: f64 = 5.0;
/// Loops that magnify by more than this ask for shorter steps. By trial.
pub(super) const MAGNIFYING: f64 = 5.0;
/// Loops that magnify by more than this ask for no shorter steps any more: as [`HOPELESS_LOOP`].
pub(super) const MOST_MAGNIFYING: f64 = 1e3;
/// The next step aims at this part of the size that would just be allowed: the usual factor of step
/// size controllers.
pub(super) const SAFETY: f64 = 0.9;
/// A step grows by this factor at most. By trial.
pub(super) const GROWTH: f64 = 1.5;
/// And by this one in the first steps after an event, whose size is a guess. By trial.
pub(super) const FIRST_GROWTH: f64 = 2.5;
/// So many steps count as first ones. By trial.
pub(super) const FIRST_STEPS: usize = 6;
/// A step shrinks to this part of the last one at most, after one that was taken. By trial.
pub(super) const SHRINKAGE: f64 = 0.3;
/// A refused step is followed by one of this part at the least. By trial.
pub(super) const REFUSED_AT_MOST: f64 = 0.1;
/// And of this part at the most: a step that differs less would be refused again. By trial.
pub(super) const REFUSED_AT_LEAST: f64 = 0.9;
/// A step that cannot be solved, or goes too far, is followed by one of this part.
pub(super) const HALF: f64 = 0.5;
/// A step counts as whole from this part of the chosen size on: else it was cut for an event or the
/// end. By trial.
pub(super) const WHOLE: f64 = 0.9;
/// The step after one of the shortest size is longer by this factor at least. By trial.
pub(super) const OUT_OF_SHORTEST: f64 = 2.0;
/// A step is accurate enough, and no sign of struggle, up to so many times its share. By trial.
pub(super) const ACCURATE: f64 = 10.0;
/// The time in which the interface is taken to move while no size is known, as a part of the run.
/// By trial.
pub(super) const USUAL_OF_RUN: f64 = 1e-3;

// What steps may leave, steered by the global error.

/// What stays of the largest global error from step to step. By trial.
pub(super) const GLOBAL_ERROR_DECAY: f64 = 0.97;
/// So many steps pass before the global error steers. By trial.
pub(super) const STEERING_AFTER: u64 = 8;
/// The part of the tolerance at which the global error is held at the end of the run; before, it
/// grows with the root of the time. By trial.
pub(super) const STEERED: f64 = 0.3;
/// The power of the ratio by which a step changes the share: a slow controller, so that it does not
/// swing. By trial.
pub(super) const STEERING: f64 = 0.01;
/// Between these the share `κ` stays. By trial.
pub(super) const SHARES: [f64; 2] = [0.05, 2.0];
/// The next step may go as far as linearizations say something, and to this part of the last one
/// anyway: one step to the next tells nothing of steps much shorter. By trial.
pub(super) const TRUSTED_AT_LEAST: f64 = 0.3;

// Fixed steps.

/// A fixed step is cut for its errors down to this part of the grid's. By trial.
pub(super) const LEAST_OF_GRID: f64 = 64.0;
/// Predictions that miss by less than this part of a range let steps grow again. By trial.
pub(super) const GOOD: f64 = 0.005;

// Predictions and inputs.

/// A step whose prediction will be off by more than this part of a range is cut. By trial.
pub(super) const TOO_FAR: f64 = 0.01;
/// A look ahead that differs from the memory by more than this part of a range has seen something
/// new. By trial.
pub(super) const SURPRISING: f64 = 0.005;
/// Cubics are taken instead of quintics where these are worse by this factor. By trial.
pub(super) const CUBIC_BETTER: f64 = 2.0;
/// Systems in a row through which feedthrough is followed to see what will move. By trial.
pub(super) const FEEDTHROUGH_ROUNDS: usize = 4;
/// Larger systems are looked at without the solve, which only damps what is stiff: its cost grows
/// with the cube of the states.
pub(super) const MOST_LOOK_AHEAD_STATES: usize = 64;

// The memory of what linear operators miss.

/// Steps that are remembered: the coefficients are extrapolated by a parabola at most. By trial.
pub(super) const DEPTH: usize = 3;
/// Points that are extrapolated through while nothing is known: what was last goes on.
pub(super) const USUAL_POINTS: usize = 1;
/// How much of the average over past predictions stays. By trial.
pub(super) const INERTIA: f64 = 0.7;
/// Another number of points must serve better by this factor. By trial.
pub(super) const HYSTERESIS: f64 = 1.2;
/// Impulses are returned by no more than this part of a range. By trial.
pub(super) const MOST_RETURNED: f64 = 0.005;
/// An impulse is returned with a shorter step by a larger difference, but not by more than this
/// factor. By trial.
pub(super) const MOST_RETURNED_GROWTH: f64 = 4.0;

// Integration and corrections.

/// Corrections of one step at most. By trial.
pub(super) const MOST_CORRECTIONS: usize = 3;
/// Fixed steps: predictions that miss by more than this part of a range are corrected, of cubics
/// and of quintics. By trial.
pub(super) const POOR_PREDICTION: [f64; 2] = [2e-4, 1e-4];
/// Misses below this part of a value are not worth a correction. By trial.
pub(super) const NEGLIGIBLE_OF_VALUE: f64 = 5e-5;
/// A correction goes on only if the one before it left no more than this part. By trial.
pub(super) const FALLING: f64 = 0.5;
/// A step that moves a state by more than so many times its range has failed. By trial.
pub(super) const FAR: f64 = 1e3;
/// Steps whose predictions miss by more than this part of a range are taken back, or, without
/// rollback, are followed by a shorter one. By trial.
pub(super) const BAD: f64 = 0.02;

// Events that systems locate.

/// An event is located under inputs that end within this part of the tolerance of what feeds them:
/// what is left moves it by far less than the error of a step. By trial.
pub(super) const EVENT_MISS_OF_TOLERANCE: f64 = 1e-2;
/// And within this part of a range where steps are fixed. By trial.
pub(super) const EVENT_MISS_OF_RANGE: f64 = 1e-8;

/// An event that may be off by more than this part of the step before it is grazed rather than
/// crossed: nothing is known of the error after it. By trial.
pub(super) const GRAZING: f64 = 0.1;
/// Delays of simultaneous events that differ by less than this part are one. By trial.
pub(super) const SIMULTANEOUS: f64 = 0.1;
/// A derivative that differs by less than this part of itself on both sides of an event does not
/// jump: some digits above rounding.
pub(super) const NEGLIGIBLE_JUMP: f64 = 1e-10;

/// A step stands out, as if something had switched in it unseen, beside neighbors that leave less by
/// this factor. By trial.
pub(super) const UNSEEN_BESIDE_NEIGHBORS: f64 = 10.0;
/// It matters from this part of the estimated error on. By trial.
pub(super) const UNSEEN_BESIDE_ERROR: f64 = 0.1;
/// And where it is not the noise of the system itself, by this factor. By trial.
pub(super) const UNSEEN_BESIDE_NOISE: f64 = 100.0;

// Interfaces that agree with the states.

/// Rounds of questions about the present, at most, until an interface agrees: Newton converges in
/// fewer, or not at all.
pub(super) const MOST_ROUNDS: usize = 8;
/// After an event it agrees when no value changes by more than this, relative: some digits above
/// rounding.
pub(super) const AGREED: f64 = 1e-12;
/// What the linearizations leave of a miss may be this part of the tolerance. By trial.
pub(super) const UNSETTLED_OF_TOLERANCE: f64 = 1e-2;
/// And this part of a range where steps are fixed. By trial.
pub(super) const UNSETTLED_OF_RANGE: f64 = 1e-9;

// Linearizations that are kept.

/// Matrices that differ by less than this, relative to their largest entry, are the same: what
/// differences in a model leave.
pub(super) const SAME: f64 = 1e-9;
/// Where linearizations are kept, one is renewed at the latest when it explains an output's change
/// over a step but for this part. By trial.
pub(super) const OUTDATED: f64 = 0.05;

// The error of the run, and what is said of it.

/// Coupling variables in loops whose magnification is measured at one step, at most: each costs a
/// solution of the whole interface.
pub(super) const MOST_MEASURED: usize = 64;
/// A state counts as if it had at least this part of the largest range of all. By trial.
pub(super) const LEAST_RANGE: f64 = 1e-3;
/// So many steps whose interpolation error is not known may follow one another, and the error of
/// the run is still estimated. By trial.
pub(super) const MOST_UNKNOWN: u32 = 2;
/// With a fixed step, an estimated error of more than this part of a range is warned of. By trial.
pub(super) const POOR_RESULT: f64 = 0.05;
/// With a fixed step, an estimated error up to this part of a range is believed enough to be added
/// to results. By trial.
pub(super) const MOST_ADDED: f64 = 0.01;
/// With steps of its own choice, up to so many times the tolerance. By trial.
pub(super) const MOST_ADDED_TOLERANCES: f64 = 10.0;

// When another method is advised.

/// Where a loop through feedthrough magnifies by more than this, an interface follows from its
/// states only by chance. By trial.
pub(super) const HOPELESS_LOOP: f64 = 1e3;
/// And by more than this where Newton on the interface has not come to an end. By trial.
pub(super) const DOUBTFUL_LOOP: f64 = 20.0;
/// So many steps that cannot be cut any more and still miss are no accident. By trial.
pub(super) const MOST_MISSES: u32 = 5;
