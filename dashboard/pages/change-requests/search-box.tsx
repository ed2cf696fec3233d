import { useId, useRef, useState } from "react";
import {
  exampleOf,
  isQualifier,
  QUALIFIERS,
  SORTS,
  type Sort,
} from "../../../src/contract/search/qualifiers.ts";
import { ApiFailure } from "../../api/failure.ts";
import { Button } from "../../parts/button.tsx";
import { Options } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { useKeys } from "../../parts/keys.ts";
import { includes, QUICK, sortOf, toggle, withSort } from "./search-query.ts";

const SORT_NAMES: Record<Sort, string> = {
  "created-desc": "Newest",
  "created-asc": "Oldest",
  "updated-desc": "Recently updated",
  "updated-asc": "Least recently updated",
};

interface Props {
  q: string;
  /** Of the last search. */
  error: unknown;
  onSearch: (q: string) => void;
}

/** The search for change requests: the box, buttons for frequent searches, and the order. `/` moves to the box. */
export function SearchBox({ q, error, onSearch }: Props) {
  const id = useId();
  const problem = problemOf(error);
  return (
    <search className="mb-4 flex flex-col gap-2">
      <Box key={q} q={q} problemId={problem === null ? undefined : id} onSearch={onSearch} />
      {problem !== null && (
        <p id={id} role="alert" className="wrap-anywhere text-danger text-sm">
          {problem}
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2 text-sm">
        {QUICK.map(({ label, search }) => (
          <button
            key={label}
            type="button"
            aria-pressed={includes(q, search)}
            onClick={() => onSearch(toggle(q, search))}
            className="rounded-full border border-edge bg-surface px-3 py-1 hover:bg-raised aria-pressed:bg-accent aria-pressed:text-on-accent"
          >
            {label}
          </button>
        ))}
        <select
          aria-label="Sort by"
          value={sortOf(q)}
          onChange={({ target }) => {
            const sort = SORTS.find((each) => each === target.value);
            if (sort) onSearch(withSort(q, sort));
          }}
          className="rounded-md border border-edge bg-surface px-2 py-1"
        >
          <Options of={SORTS.map((sort) => [sort, SORT_NAMES[sort]])} />
        </select>
      </div>
      <Help />
    </search>
  );
}

/** Why the server cannot read the search; null: it can, or did not answer. */
export function problemOf(error: unknown): string | null {
  return error instanceof ApiFailure && error.code === "validation_failed"
    ? error.message.replace(/^q: /, "")
    : null;
}

interface BoxProps extends Pick<Props, "q" | "onSearch"> {
  problemId: string | undefined;
}

function Box({ q, problemId, onSearch }: BoxProps) {
  const [words, setWords] = useState(q);
  const box = useRef<HTMLInputElement>(null);
  useKeys([{ key: "/", about: "Search change requests", run: () => box.current?.focus() }]);
  return (
    <Form onSubmit={() => onSearch(words.trim())} className="flex gap-2">
      <input
        ref={box}
        type="search"
        aria-label="Search change requests"
        aria-keyshortcuts="/"
        aria-invalid={problemId !== undefined}
        aria-describedby={problemId}
        placeholder="Words, #number, or qualifiers such as author:@me"
        autoComplete="off"
        spellCheck={false}
        value={words}
        onChange={(event) => setWords(event.target.value)}
        className="min-w-0 grow rounded-md border border-edge bg-surface px-3 py-1.5 placeholder:text-muted aria-invalid:border-danger"
      />
      <Button type="submit">Search</Button>
    </Form>
  );
}

function Help() {
  const names = Object.keys(QUALIFIERS).filter(isQualifier);
  return (
    <details className="text-sm">
      <summary className="w-fit cursor-pointer text-muted">What can be searched for</summary>
      <p className="mt-2">
        Words that the title or a branch has, and #numbers. All must match. <code>-</code> negates, and quotes
        keep spaces and colons: <code>-"log in"</code>.
      </p>
      <dl className="mt-2 grid gap-x-4 gap-y-1 sm:grid-cols-[max-content_1fr]">
        {names.map((name) => (
          <div key={name} className="contents">
            <dt>
              <code>{exampleOf(name)}</code>
            </dt>
            <dd className="text-muted">{QUALIFIERS[name].about}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
