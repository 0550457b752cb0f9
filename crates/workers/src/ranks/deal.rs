//! Which rank gets which system.

/// Deals systems with these costs out to ranks so that the most loaded rank has little to do: the
/// costliest first, each to the rank that has the least so far. Of equals the first counts, so that
/// the same costs are always dealt in the same way.
///
/// A system whose cost is not known counts as one of the average cost; light ones still spread, since
/// each has a little share for being there. Systems with the same `apart` never share a rank; where
/// that cannot be, there is no deal.
pub fn deal(
    costs: &[Option<f64>],
    apart: &[Option<usize>],
    ranks: std::ops::Range<usize>,
) -> Option<Vec<usize>> {
    let known: Vec<f64> = costs.iter().flatten().copied().collect();
    let average = known.iter().sum::<f64>() / known.len().max(1) as f64;
    let least = if average > 0.0 { 1e-3 * average } else { 1.0 };
    let cost = |system: usize| costs[system].unwrap_or(average) + least;
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by(|&a, &b| cost(b).total_cmp(&cost(a)).then(a.cmp(&b)));

    let mut loads = vec![0.0; ranks.len()];
    let mut owners = vec![usize::MAX; costs.len()];
    for system in order {
        let permitted = |rank: &usize| {
            let mut others = owners.iter().zip(apart).filter(|(owner, _)| *owner == rank);
            apart[system].is_none() || others.all(|(_, kind)| *kind != apart[system])
        };
        let load = |rank: usize| -> f64 { loads[rank - ranks.start] };
        let chosen = ranks
            .clone()
            .filter(permitted)
            .min_by(|&a, &b| load(a).total_cmp(&load(b)))?;
        loads[chosen - ranks.start] += cost(system);
        owners[system] = chosen;
    }
    Some(owners)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anywhere(count: usize) -> Vec<Option<usize>> {
        vec![None; count]
    }

    #[test]
    fn a_heavy_system_has_a_rank_of_its_own() {
        let costs = [1.0, 1.0, 5.0, 1.0, 1.0].map(Some);
        assert_eq!(deal(&costs, &anywhere(5), 0..2).unwrap(), [1, 1, 0, 1, 1]);
    }

    #[test]
    fn equal_systems_are_spread_evenly() {
        let costs = vec![Some(0.0); 7];
        let owners = deal(&costs, &anywhere(7), 1..4).unwrap();
        let counts = [1, 2, 3].map(|rank| owners.iter().filter(|&&owner| owner == rank).count());
        assert_eq!(counts, [3, 2, 2]);
    }

    #[test]
    fn an_unknown_cost_is_taken_for_the_average() {
        // 2, 3, 4 and 3: six for each rank.
        let costs = [Some(2.0), None, Some(4.0), None];
        assert_eq!(deal(&costs, &anywhere(4), 0..2).unwrap(), [0, 1, 0, 1]);
    }

    #[test]
    fn systems_that_cannot_share_a_process_are_kept_apart() {
        let costs = [Some(1.0); 3];
        let apart = [Some(0), Some(0), None];
        let owners = deal(&costs, &apart, 0..2).unwrap();
        assert_ne!(owners[0], owners[1]);
        assert_eq!(deal(&costs, &[Some(0); 3], 0..2), None);
    }
}
