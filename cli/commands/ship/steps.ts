/** The steps with side effects of a run; a dry run only records them. */
export interface Steps {
  readonly dryRun: boolean;
  /** The steps that a dry run recorded. */
  readonly planned: readonly string[];
  /** Runs a step. A dry run records `would` (`create the project shop`) and returns null. */
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
