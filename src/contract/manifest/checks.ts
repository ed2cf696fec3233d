import * as kinds from "./kinds.ts";
import {
  type EitherShape,
  isTable,
  type ListShape,
  nameOf,
  type Path,
  type Problem,
  type Table,
  wrong,
} from "./shape.ts";
import { stringOf, tableOf } from "./values.ts";

/** A check that svc runs itself, on every tip of an open change request. */
export interface ManifestCheck {
  /** The context of the statuses that it reports. */
  name: string;
  /** A shell command: exit status 0 is success. */
  command: string;
  timeoutMinutes: number;
  /** Names of the secrets in its environment. */
  secrets: string[];
}

/** Required checks. */
const REQUIRED_MAX = 50;
/** Checks that svc runs for one commit: each has a sandbox. */
export const OWN_CHECKS_MAX = 20;
const SECRETS_MAX = 50;

export const checksList: ListShape = {
  is: "list",
  about: "Checks with the settings of each. A file has either these or `[checks]`.",
  itemsMax: OWN_CHECKS_MAX,
  unique: "name",
  item: {
    is: "table",
    about: "A check.",
    fields: {
      name: {
        is: "value",
        kind: kinds.context,
        need: "required",
        example: "test",
        about: "Its name, unique in the file.",
      },
      command: {
        is: "value",
        kind: kinds.command,
        about:
          "A shell command that svc runs on each commit of an open change request. Without it, CI reports the check.",
      },
      required: {
        is: "value",
        kind: kinds.flag,
        fallback: false,
        about: "Whether it must pass on the last commit of a change request before a merge.",
      },
      timeout_minutes: {
        is: "value",
        kind: kinds.timeoutMinutes,
        fallback: kinds.TIMEOUT_MINUTES,
        about: "The time limit of the command.",
      },
      secrets: {
        is: "names",
        namesMax: SECRETS_MAX,
        about: "The secrets in its environment, which must be for `checks`. By default none.",
      },
    },
    problemsOf: problemsOfCheck,
  },
};

export const checksShape: EitherShape = {
  is: "either",
  about: "The checks of commits.",
  table: {
    is: "table",
    about: "The checks of commits, whose results CI reports to svc.",
    fields: {
      required: {
        is: "values",
        kind: kinds.context,
        valuesMax: REQUIRED_MAX,
        about: "Checks that must pass on the last commit of a change request before it is merged.",
      },
    },
  },
  list: checksList,
};

function problemsOfCheck(check: Table, path: Path): Problem[] {
  if (Object.hasOwn(check, "command")) return [];
  const idle = ["timeout_minutes", "secrets"].filter((key) => Object.hasOwn(check, key));
  if (idle.length > 0) return idle.map((key) => wrong([...path, key], "needs command, which svc runs"));
  if (check["required"] === true) return [];
  const message = `${nameOf(path)} has no effect: add command = "…" for svc to run it, or required = true.`;
  return [{ path, at: "value", message, severity: "warning" }];
}

/** The valid names of required checks, those of invalid entries included. */
export function readRequiredChecks(root: Table): string[] {
  const checks = Object.hasOwn(root, "checks") ? root["checks"] : [];
  const names: unknown = Array.isArray(checks)
    ? checks.flatMap((each) => (isTable(each) && each["required"] === true ? [stringOf(each, "name")] : []))
    : tableOf(root, "checks")["required"];
  return Array.isArray(names) ? [...new Set(names.slice(0, REQUIRED_MAX).filter(kinds.context.fits))] : [];
}

/** @param check a valid one @returns none for a check that CI reports */
export function readOwnCheck(check: Table): ManifestCheck[] {
  const [name, command] = [stringOf(check, "name"), stringOf(check, "command")];
  const { timeout_minutes: minutes, secrets } = check;
  if (name === null || command === null) return [];
  return [
    {
      name,
      command,
      timeoutMinutes: kinds.timeoutMinutes.fits(minutes) ? minutes : kinds.TIMEOUT_MINUTES,
      secrets: Array.isArray(secrets) ? [...new Set(secrets.filter(kinds.secretName.fits))] : [],
    },
  ];
}
