import type { GitLimits } from "./limits.ts";

/** The part of a pino logger that this folder uses. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface GitOptions {
  /** The server's data directory; mirrors live in `<dataDir>/mirrors/<id>.git`. Only one process may use it. */
  dataDir: string;
  /** Also allow file:// and http:// URLs, absolute paths and hosts with private addresses. */
  allowPrivate: boolean;
  /**
   * What opens an ssh remote without a stored key. `operator`: the keys, agent, configuration and known hosts of the
   * user that the server runs as. `project`: nothing.
   */
  sshKeys: "operator" | "project";
  log: Log;
  /** Git hosts with an API that the operator named, beside the well-known ones. */
  hosts?: readonly GitHost[];
  /** Addresses of a host; the system's resolver unless given. */
  resolve?: (host: string) => Promise<string[]>;
  limits?: Partial<GitLimits>;
  /** Called for every operation, for metrics. */
  observe?: (operation: string, milliseconds: number, ok: boolean) => void;
  /** Called for each listing of a remote that runs: concurrent callers share one. */
  listed?: () => void;
  /** Called between the steps of a push; a test ends the process or the client there. */
  checkpoint?: (step: PushStep) => void | Promise<void>;
}

/** The steps of a push, in order. The checkpoint is called after each. */
export const PUSH_STEPS = [
  "commands-read",
  /** The first piece of the pack has been passed to git. */
  "pack-begun",
  "unpacked",
  "judged",
  /** The git host has answered; not for a repository that svc hosts. */
  "forwarded",
  "objects-taken",
  "refs-changed",
] as const;
export type PushStep = (typeof PUSH_STEPS)[number];

export type GitHostKind = "github" | "gitlab" | "gitea";

/** A git host with an API that svc may use. */
export interface GitHost {
  /** Scheme, host and port of its repositories' http(s) addresses, as `URL.origin` writes them. */
  origin: string;
  kind: GitHostKind;
}

/** The part of the options and the data directory that is needed to reach a remote. */
export interface RemoteContext {
  allowPrivate: boolean;
  sshKeys: "operator" | "project";
  resolve: ((host: string) => Promise<string[]>) | undefined;
  limits: GitLimits;
  /** Home and starting point of git. */
  home: string;
  /** For key files. */
  temporary: string;
  knownHosts: string;
}
