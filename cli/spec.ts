import type { Context } from "./context.ts";

/** Kinds of values that completion takes from the configuration or the server. */
export type Completes =
  | "agent"
  | "cr"
  | "session"
  | "host"
  | "project"
  | "branch"
  | "file"
  | "command"
  | "search"
  | "topic";

interface Named {
  readonly summary: string;
  readonly short?: string;
  /** Other long names of the same flag. */
  readonly aliases?: readonly string[];
  /** Names that are not accepted, for which the error suggests this flag. */
  readonly guesses?: readonly string[];
  readonly hidden?: true;
}

export type Flag =
  | (Named & { readonly kind: "boolean" })
  | (Named & {
      readonly kind: "string";
      /** How help shows the value: `<ref>`. */
      readonly value: string;
      readonly required?: true;
      readonly many?: true;
      /** Whether the empty string is a value. */
      readonly empty?: true;
      readonly choices?: readonly string[];
      readonly fallback?: string;
      readonly completes?: Completes;
    })
  | (Named & { readonly kind: "integer"; readonly value: string; readonly min: number; readonly max: number })
  /** An optional value, only after `=`: `--json` or `--json=a,b`. */
  | (Named & { readonly kind: "optional"; readonly value: string; readonly choices?: readonly string[] });

export type Flags = Readonly<Record<string, Flag>>;

export interface Arg {
  readonly name: string;
  readonly summary: string;
  /** `ask`: required, but prompted for on a terminal. */
  readonly required?: true | "ask";
  readonly many?: true;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
}

/** A command's declaration, for the parser, help, completion and docs/cli.md. */
export interface Spec {
  readonly path: readonly [string, ...string[]];
  readonly aliases?: readonly string[];
  /** Undocumented aliases. */
  readonly guesses?: readonly string[];
  readonly summary: string;
  /** Further paragraphs of help. */
  readonly about?: readonly string[];
  readonly args: readonly Arg[];
  readonly flags: Flags;
  /** Fields of `--json`; without it the command prints no data. */
  readonly fields?: readonly string[];
  readonly examples: readonly (readonly [command: string, description: string])[];
  readonly hidden?: true;
  /** Matches any word that is not another command: `svc <project-name>`. The word is its first argument. */
  readonly anyName?: true;
}

/** Declares a command. Its handler gets the flags and arguments with their exact types. */
export const spec = <const S extends Spec>(it: S): S => it;

type ValueOf<F extends Flag> = F extends { kind: "boolean" }
  ? boolean
  : F extends { kind: "integer" }
    ? number
    : F extends { choices: readonly (infer C)[]; kind: "string" }
      ? C
      : string;

type FlagOf<F extends Flag> = F extends { many: true }
  ? ValueOf<F>[]
  : F extends { kind: "boolean" } | { required: true } | { fallback: string }
    ? ValueOf<F>
    : ValueOf<F> | undefined;

export type FlagsOf<F extends Flags> = { readonly [Name in keyof F]: FlagOf<F[Name]> };

type ArgsOf<A extends readonly Arg[]> = {
  readonly [Each in A[number] as Each["name"]]: Each extends { many: true }
    ? string[]
    : Each extends { required: true }
      ? string
      : string | undefined;
};

/** The parsed command line of `S`. */
export interface Input<S extends Spec> {
  args: ArgsOf<S["args"]>;
  flags: FlagsOf<S["flags"]>;
}

export type Handler<S extends Spec> = (context: Context, input: Input<S>) => Promise<void>;

/** A command whose handler is loaded when it runs, so that start-up loads only the table. */
export interface Command {
  spec: Spec;
  run(context: Context, args: Values, flags: Values): Promise<void>;
}

export type Values = Record<string, unknown>;

export interface Group {
  name: string;
  summary: string;
  commands: readonly Command[];
}

/** Binds a command to its handler. The parser has checked `args` and `flags` by the same spec. */
export function bind<S extends Spec>(it: S, load: () => Promise<Handler<S>>): Command {
  return {
    spec: it,
    run: async (context, args, flags) => (await load())(context, { args, flags } as unknown as Input<S>),
  };
}

export const isGroup = (node: Group | Command): node is Group => "commands" in node;
export const nameOf = (node: Group | Command): string => (isGroup(node) ? node.name : lastWord(node.spec));
/** The command's name within its group: one word, or two such as `env ls`. */
export const lastWord = (it: Spec): string => it.path.slice(1).join(" ") || it.path[0];
export const namesOf = (it: Spec): string[] => [lastWord(it), ...(it.aliases ?? []), ...(it.guesses ?? [])];
