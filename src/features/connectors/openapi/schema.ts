import { isObject } from "../../../contract/json.ts";

/** Values and levels of one tool's schema: a reference can contain itself, or double with each level. */
const VALUES_MAX = 1_500;
const DEPTH_MAX = 12;
/** Keys that tell a model nothing that it needs. */
const IGNORED = /^(?:example|examples|xml|externalDocs|discriminator|deprecated|x-.*)$/;

/** Copies a part of a document with its references resolved. What exceeds the limits becomes `{}`: anything. */
export function createResolver(document: unknown): (value: unknown) => unknown {
  let left = VALUES_MAX;
  return (value) => resolve(value, 0);

  function resolve(value: unknown, depth: number): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (--left < 0 || depth > DEPTH_MAX) return {};
    if (Array.isArray(value)) return value.slice(0, left + 1).map((each) => resolve(each, depth + 1));
    const target = follow(document, value);
    if (!isObject(target)) return {};
    const kept = Object.entries(target).filter(([key]) => !IGNORED.test(key));
    return Object.fromEntries(kept.slice(0, left + 1).map(([key, each]) => [key, resolve(each, depth + 1)]));
  }
}

/** References that follow each other. */
const HOPS_MAX = 20;

/** The object that references within the document lead to; those to other documents lead nowhere. */
export function follow(document: unknown, value: unknown): unknown {
  let found = value;
  for (let hops = 0; hops < HOPS_MAX; hops++) {
    const ref = isObject(found) ? found["$ref"] : undefined;
    if (typeof ref !== "string") return found;
    found = pointedAt(document, ref);
  }
  return null;
}

/** RFC 6901, as the fragment of a URL. */
function pointedAt(document: unknown, ref: string): unknown {
  if (!ref.startsWith("#/")) return null;
  let found = document;
  for (const part of ref.slice(2).split("/")) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return null;
    found = Reflect.get(found, key);
  }
  return found;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
