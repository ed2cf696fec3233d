/** A route as the router knows it: `/v1/projects/:projectId`. */
interface Route {
  method: string;
  path: string;
}

/** Tells an unknown path (404) from a known path with another method (405). */
export function methodTable(routes: readonly Route[]): (path: string) => string[] {
  const table = routes.map(({ method, path }) => ({
    method,
    pattern: new RegExp(
      `^${path
        .replace(/\/$/, "")
        .replace(/:[^/]+/g, "[^/]+")
        .replace("*", ".*")}/?$`,
    ),
  }));
  return (path) =>
    [...new Set(table.filter((route) => route.pattern.test(path)).map((route) => route.method))].sort();
}
