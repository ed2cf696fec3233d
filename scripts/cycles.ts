/**
 * The cycles of a graph, each once, as paths that end at their first node.
 * @param graph maps a node to the nodes that it points to
 */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (node: string): void => {
    const start = path.indexOf(node);
    if (start >= 0) return void cycles.push([...path.slice(start), node]);
    if (done.has(node)) return;
    path.push(node);
    for (const next of graph.get(node) ?? []) visit(next);
    path.pop();
    done.add(node);
  };
  for (const node of graph.keys()) visit(node);
  return cycles;
}
