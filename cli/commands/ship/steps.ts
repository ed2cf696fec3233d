/** What a run does to the world, one step after the other; a dry run only says it. */
export interface Steps {
  readonly dryRun: boolean;
  /** What would have been done so far. */
  readonly planned: readonly string[];
  /** Does it. In a dry run it answers null, and `would` is planned: `make the project shop`. */
  take<T>(would: string, act: () => Promise<T>): Promise<T | null>;
}

export function makeSteps(dryRun: boolean): Steps {
  const planned: string[] = [];
  return {
    dryRun,
    planned,
    async take(would, act) {
      if (!dryRun) return act();
      planned.push(would);
      return null;
    },
  };
}
