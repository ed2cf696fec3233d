import { isAbsolute } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ConfigError } from "../../config.ts";
import { SvcError } from "../../contract/errors.ts";
import { MODEL_FORMATS } from "../../contract/model-upstream.ts";
import { type CustomRuntime, isRuntimeName, RUNTIME_NAME } from "../../contract/runtimes.ts";
import { oneOf } from "../../contract/schema.ts";
import { validationFailed } from "../../http/validation.ts";
import { readTomlFile, tomlFileFault } from "../../lib/toml-file.ts";

const RUNTIMES_MAX = 20;
const TEXT_MAX = 4_096;
const text = Type.String({ minLength: 1, maxLength: TEXT_MAX });
/** A path below a folder. */
const BELOW = /^(?!\/)(?!.*\.\.).+$/;
const below = Type.String({ maxLength: TEXT_MAX, pattern: BELOW.source });

const file = Type.Object(
  {
    runtimes: Type.Array(
      Type.Object(
        {
          name: Type.String({ pattern: RUNTIME_NAME }),
          title: Type.Optional(text),
          command: Type.Array(text, { minItems: 1, maxItems: 64 }),
          folder: Type.Optional(text),
          model_format: Type.Optional(oneOf(MODEL_FORMATS)),
          environment: Type.Optional(Type.Record(Type.String({ pattern: "^[A-Za-z_]\\w{0,127}$" }), text)),
          mode: Type.Optional(text),
          rules_file: Type.Optional(below),
          skills: Type.Optional(below),
          records: Type.Optional(Type.Array(below, { maxItems: 20 })),
          secrets: Type.Optional(Type.Array(Type.String({ pattern: "^[A-Z][A-Z0-9_]*$" }), { maxItems: 20 })),
        },
        { additionalProperties: false },
      ),
      { maxItems: RUNTIMES_MAX },
    ),
  },
  { additionalProperties: false },
);

/**
 * Reads SVC_RUNTIMES_FILE: the agents that the operator adds to those that svc knows.
 * @param path null: there are none
 * @throws ConfigError that names the place, and no value
 */
export function readCustomRuntimes(path: string | null): CustomRuntime[] {
  if (path === null) return [];
  try {
    const runtimes = parsed(path);
    for (const [index, runtime] of runtimes.entries()) {
      const fault = faultOf(runtime, runtimes.slice(0, index));
      if (fault !== null) throw new ConfigError(`runtimes.${index}.${fault}`);
    }
    return runtimes;
  } catch (error) {
    throw new ConfigError(`SVC_RUNTIMES_FILE (${path}) is not valid: ${reasonOf(error)}.`);
  }
}

/** What the schema does not say, as a clause about a field; null: nothing. */
function faultOf({ name, folder, command: [program = ""] }: CustomRuntime, before: readonly CustomRuntime[]) {
  if (isRuntimeName(name) || before.some((each) => each.name === name)) return `name "${name}" is taken`;
  if (folder === null) return null;
  if (!isAbsolute(folder)) return "folder must be an absolute path";
  return BELOW.test(program) ? null : "command must begin with a path in the folder";
}

function parsed(path: string): CustomRuntime[] {
  const content: unknown = readTomlFile(path);
  if (!Value.Check(file, content))
    throw validationFailed({ type: "the file", all: [...Value.Errors(file, content)] });
  return content.runtimes.map((each) => ({
    name: each.name,
    title: each.title ?? each.name,
    command: each.command,
    folder: each.folder ?? null,
    modelFormat: each.model_format ?? "openai",
    environment: each.environment ?? {},
    mode: each.mode ?? null,
    rulesFile: each.rules_file ?? null,
    skills: each.skills ?? null,
    records: each.records ?? [],
    secrets: each.secrets ?? [],
  }));
}

function reasonOf(error: unknown): string {
  if (error instanceof ConfigError || error instanceof SvcError) return error.message.replace(/\.$/, "");
  return tomlFileFault(error);
}
