import { parseSync } from "oxc-parser";

/** A source file with one token changed. */
export interface Mutant {
  /** Starts at 1. */
  line: number;
  /** The line before and after the change, trimmed. */
  before: string;
  after: string;
  /** The whole file with the change. */
  text: string;
}

interface Change {
  start: number;
  end: number;
  text: string;
}

interface Node extends Record<string, unknown> {
  type: string;
  start: number;
  end: number;
}

/** Operators and their replacements. */
const OPERATORS: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "&&": "||",
  "||": "&&",
  "??": "&&",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "+=": "-=",
  "-=": "+=",
  "&&=": "||=",
  "||=": "&&=",
  "&": "|",
  "|": "&",
  "<<": ">>",
  ">>>": "<<",
};

const METHODS: Readonly<Record<string, string>> = {
  some: "every",
  every: "some",
  min: "max",
  max: "min",
  startsWith: "endsWith",
  endsWith: "startsWith",
  indexOf: "lastIndexOf",
  lastIndexOf: "indexOf",
  floor: "ceil",
  ceil: "floor",
  gt: "gte",
  gte: "gt",
  lt: "lte",
  lte: "lt",
  eq: "ne",
  ne: "eq",
  and: "or",
  or: "and",
  isNull: "isNotNull",
  isNotNull: "isNull",
  toLowerCase: "toUpperCase",
};

const TEXTS: Readonly<Record<string, string>> = { NFKC: "NFC", NFKD: "NFD" };

/** Larger numbers are times and sizes, where an off-by-one error does no harm. */
const COUNTED_MAX = 100;

/** All mutants of a TypeScript file that change one token. */
export function mutantsOf(path: string, source: string): Mutant[] {
  const changes: Change[] = [];
  const { program, module } = parseSync(path, source);
  walk(program, (node) => changes.push(...changesOf(node, source)));
  const imports = new Map(
    module.staticImports.flatMap(({ moduleRequest, entries }) =>
      entries.map(({ localName }) => [localName.value, moduleRequest.value]),
    ),
  );
  return changes
    .sort((one, other) => one.start - other.start)
    .map((change) => mutantOf(source, change, imports));
}

/** @param imports imported names and their modules */
function mutantOf(source: string, { start, end, text }: Change, imports: Map<string, string>): Mutant {
  const begin = source.lastIndexOf("\n", start - 1) + 1;
  const after = source.indexOf("\n", end);
  const finish = after === -1 ? source.length : after;
  // replacing a name by an undefined one is always detected
  const module = imports.has(text) ? undefined : imports.get(source.slice(start, end));
  const lacking = module === undefined ? "" : `import { ${text} } from ${JSON.stringify(module)};\n`;
  return {
    line: source.slice(0, start).split("\n").length,
    before: source.slice(begin, finish).trim(),
    after: (source.slice(begin, start) + text + source.slice(end, finish)).trim(),
    text: source.slice(0, start) + text + source.slice(end) + lacking,
  };
}

function changesOf(node: Node, source: string): Change[] {
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
    case "AssignmentExpression":
      return operatorOf(node, source);
    case "UnaryExpression":
      return node["operator"] === "!" ? [{ start: node.start, end: node.start + 1, text: "" }] : [];
    case "UpdateExpression":
      return [swapOf(node, source, "++", "--"), swapOf(node, source, "--", "++")].flat();
    case "IfStatement":
    case "ConditionalExpression":
    case "WhileStatement":
      return negationOf(node["test"]);
    case "Literal":
      // a negative number is mostly the result of a comparison function
      return source[node.start - 1] === "-" ? [] : literalOf(node);
    case "CallExpression":
      return methodOf(node["callee"]);
    default:
      return [];
  }
}

function operatorOf(node: Node, source: string): Change[] {
  const { left, right, operator } = node;
  if (!isNode(left) || !isNode(right) || typeof operator !== "string") return [];
  const text = OPERATORS[operator];
  if (text === undefined || (operator === "+" && [left, right].some(isText))) return [];
  const start = source.indexOf(operator, left.end);
  return start === -1 || start > right.start ? [] : [{ start, end: start + operator.length, text }];
}

/** Whether `+` concatenates strings. */
function isText(node: Node): boolean {
  return node.type === "TemplateLiteral" || (node.type === "Literal" && typeof node["value"] === "string");
}

function swapOf(node: Node, source: string, from: string, to: string): Change[] {
  const start = source.slice(node.start, node.end).indexOf(from);
  return start === -1 ? [] : [{ start: node.start + start, end: node.start + start + from.length, text: to }];
}

/** A condition without operators. */
function negationOf(test: unknown): Change[] {
  if (!isNode(test)) return [];
  if (test.type === "AwaitExpression") return [{ start: test.start, end: test.start, text: "!" }];
  const isSimple = ["Identifier", "MemberExpression", "CallExpression"].includes(test.type);
  return isSimple ? [{ start: test.start, end: test.start, text: "!" }] : [];
}

function literalOf(node: Node): Change[] {
  const { start, end, value, regex } = node;
  if (typeof value === "boolean") return [{ start, end, text: String(!value) }];
  if (typeof value === "number")
    return Number.isInteger(value) && value <= COUNTED_MAX ? [{ start, end, text: String(value + 1) }] : [];
  if (typeof value === "string" && TEXTS[value]) return [{ start, end, text: JSON.stringify(TEXTS[value]) }];
  if (typeof regex !== "object" || regex === null || !("pattern" in regex)) return [];
  return regexOf(start, String(regex.pattern), "flags" in regex ? String(regex.flags) : "");
}

/** Changes anchors, quantifiers, ranges, negated classes and the flag `i` of a regular expression. */
function regexOf(start: number, pattern: string, flags: string): Change[] {
  const at = start + 1;
  const changes: Change[] = [];
  const add = (from: number, to: number, text: string) =>
    changes.push({ start: at + from, end: at + to, text });
  for (let index = 0, inClass = false; index < pattern.length; index++) {
    const character = pattern[index];
    if (character === "\\") {
      index++;
      continue;
    }
    if (inClass) {
      const range = /^(\w)-(\w)/.exec(pattern.slice(index));
      if (range?.[2]) add(index + 2, index + 3, String.fromCharCode(range[2].charCodeAt(0) - 1));
      if (range) index += 2;
      else if (character === "]") inClass = false;
      continue;
    }
    if (character === "[") {
      inClass = true;
      if (pattern[index + 1] === "^") add(index + 1, index + 2, "");
      else add(index + 1, index + 1, "^");
    } else if (character === "^" || character === "$") add(index, index + 1, "");
    else if (character === "+") add(index, index + 1, "*");
    else if (character === "*") add(index, index + 1, "+");
  }
  const end = at + pattern.length + 1;
  if (flags.includes("i"))
    changes.push({ start: end, end: end + flags.length, text: flags.replace("i", "") });
  return changes;
}

function methodOf(callee: unknown): Change[] {
  if (!isNode(callee)) return [];
  const name = callee.type === "MemberExpression" ? callee["property"] : callee;
  if (!isNode(name) || name.type !== "Identifier" || typeof name["name"] !== "string") return [];
  const text = Object.hasOwn(METHODS, name["name"]) ? METHODS[name["name"]] : undefined;
  return text === undefined ? [] : [{ start: name.start, end: name.end, text }];
}

/** Types do not run. */
function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) for (const each of value) walk(each, visit);
  if (!isNode(value) || value.type.startsWith("TSType") || value.type.startsWith("TSInterface")) return;
  visit(value);
  for (const each of Object.values(value)) if (typeof each === "object") walk(each, visit);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value && "end" in value;
}
