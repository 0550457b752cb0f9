//! Strongly connected components of a directed graph, in dependency order.

/// The strongly connected components of the graph in which node `n` depends on the nodes `dependencies[n]`: what a component
/// depends on comes before it, and members are sorted. A component of more than one node, or of one that depends on itself,
/// is a loop.
///
/// Tarjan's algorithm with its own stack, so that a chain of a million nodes does not exhaust the thread's.
pub fn components(dependencies: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = ComponentSearch::new(dependencies.len());
    for root in 0..dependencies.len() {
        if search.index[root] == UNSEEN {
            search.explore(root, dependencies);
        }
    }
    search.found
}

const UNSEEN: usize = usize::MAX;

struct ComponentSearch {
    index: Vec<usize>,
    lowest: Vec<usize>,
    open: Vec<bool>,
    stack: Vec<usize>,
    found: Vec<Vec<usize>>,
    next: usize,
}

impl ComponentSearch {
    fn new(nodes: usize) -> Self {
        Self {
            index: vec![UNSEEN; nodes],
            lowest: vec![UNSEEN; nodes],
            open: vec![false; nodes],
            stack: Vec::new(),
            found: Vec::new(),
            next: 0,
        }
    }

    fn enter(&mut self, node: usize) {
        self.index[node] = self.next;
        self.lowest[node] = self.next;
        self.next += 1;
        self.open[node] = true;
        self.stack.push(node);
    }

    fn explore(&mut self, root: usize, dependencies: &[Vec<usize>]) {
        // Each entry: a node, and how many of its dependencies have been looked at.
        let mut path = vec![(root, 0)];
        self.enter(root);

        while let Some((node, looked_at)) = path.last_mut() {
            let node = *node;
            if let Some(&next) = dependencies[node].get(*looked_at) {
                *looked_at += 1;
                if self.index[next] == UNSEEN {
                    self.enter(next);
                    path.push((next, 0));
                } else if self.open[next] {
                    self.lowest[node] = self.lowest[node].min(self.index[next]);
                }
            } else {
                path.pop();
                if let Some((parent, _)) = path.last() {
                    self.lowest[*parent] = self.lowest[*parent].min(self.lowest[node]);
                }
                self.close(node);
            }
        }
    }

    /// If nothing below `node` reaches above it, what lies on the stack from `node` on is a component.
    fn close(&mut self, node: usize) {
        if self.lowest[node] == self.index[node] {
            let from = self
                .stack
                .iter()
                .rposition(|&n| n == node)
                .expect("BUG: an open node is on the stack");
            let mut members = self.stack.split_off(from);
            members.iter().for_each(|&n| self.open[n] = false);
            members.sort_unstable();
            self.found.push(members);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_found_and_come_after_what_they_depend_on() {
        // 3 → {1, 2} → 0, with 1 and 2 in a loop.
        let found = components(&[vec![], vec![0, 2], vec![1], vec![2]]);
        assert_eq!(found, [vec![0], vec![1, 2], vec![3]]);
    }

    #[test]
    fn independent_nodes_keep_their_order() {
        assert_eq!(
            components(&[vec![], vec![], vec![]]),
            [vec![0], vec![1], vec![2]]
        );
    }

    #[test]
    fn a_long_chain_does_not_exhaust_the_stack() {
        let n = 300_000;
        let chain: Vec<Vec<usize>> = (0..n)
            .map(|i| if i + 1 < n { vec![i + 1] } else { vec![] })
            .collect();
        assert_eq!(components(&chain).len(), n);
    }

    #[test]
    fn a_ring_is_one_component() {
        let n = 1000;
        let ring: Vec<Vec<usize>> = (0..n).map(|i| vec![(i + 1) % n]).collect();
        assert_eq!(components(&ring), [(0..n).collect::<Vec<_>>()]);
    }
}
