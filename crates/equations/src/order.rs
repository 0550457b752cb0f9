//! The order in which definitions can be evaluated, or the cycles that prevent one.

/// Definitions, each after those it needs, and the cycles found on the way.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Order {
    pub sequence: Vec<usize>,
    pub cycles: Vec<Vec<usize>>,
}

/// More cycles than these are not listed.
const MOST_CYCLES: usize = 20;

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

/// Sorts definitions, where `needs[i]` lists what definition `i` uses.
pub(crate) fn order(needs: &[Vec<usize>]) -> Order {
    let mut search = CycleSearch {
        needs,
        marks: vec![Mark::New; needs.len()],
        circular: vec![false; needs.len()],
        path: Vec::new(),
        order: Order::default(),
    };
    (0..needs.len()).for_each(|start| search.visit(start));
    search.order
}

/// Depth first, with its own stack: a chain of definitions may be long.
struct CycleSearch<'a> {
    needs: &'a [Vec<usize>],
    marks: Vec<Mark>,
    /// Whether a definition is on a cycle already listed.
    circular: Vec<bool>,
    /// Open definitions, with how many of their needs have been looked at.
    path: Vec<(usize, usize)>,
    order: Order,
}

impl CycleSearch<'_> {
    fn visit(&mut self, start: usize) {
        self.open(start);
        while let Some((definition, looked_at)) = self.path.last_mut() {
            let definition = *definition;
            let next = *looked_at;
            *looked_at += 1;
            match self.needs[definition].get(next) {
                Some(&need) if self.marks[need] == Mark::Open => self.list_cycle(definition, need),
                Some(&need) => self.open(need),
                None => self.close(definition),
            }
        }
    }

    fn open(&mut self, definition: usize) {
        if self.marks[definition] == Mark::New {
            self.marks[definition] = Mark::Open;
            self.path.push((definition, 0));
        }
    }

    fn close(&mut self, definition: usize) {
        self.marks[definition] = Mark::Done;
        self.path.pop();
        self.order.sequence.push(definition);
    }

    /// One cycle of those that share definitions is enough to begin with.
    fn list_cycle(&mut self, last: usize, first: usize) {
        let listed = self.circular[last] || self.circular[first];
        if listed || self.order.cycles.len() == MOST_CYCLES {
            return;
        }

        let path = self.path.iter().map(|&(definition, _)| definition);
        let cycle: Vec<usize> = path.skip_while(|&it| it != first).collect();

        for &definition in &cycle {
            self.circular[definition] = true;
        }
        self.order.cycles.push(cycle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_come_first() {
        let order = order(&[vec![2], vec![0], vec![]]);
        assert_eq!(
            order,
            Order {
                sequence: vec![2, 0, 1],
                cycles: vec![]
            }
        );
    }

    #[test]
    fn a_circle_is_listed_once() {
        let order = order(&[vec![1], vec![2, 2], vec![0, 1, 2], vec![3]]);
        assert_eq!(order.cycles, [vec![0, 1, 2], vec![3]]);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let length = 300_000;
        let needs: Vec<Vec<usize>> = (1..=length).map(|next| vec![next % length]).collect();
        assert_eq!(order(&needs).cycles[0].len(), length);
    }
}
