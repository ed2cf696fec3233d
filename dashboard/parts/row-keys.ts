import { useKeys } from "./keys.ts";

/** Marks the link of a row, which `j` and `k` move to. */
export const ROW_LINK = { "data-row-link": "" };

/** `j` and `k` move the focus through the rows of the page's lists. */
export function useRowKeys(): void {
  useKeys([
    { key: "j", about: "Next row", run: () => stepThrough("[data-row-link]", 1) },
    { key: "k", about: "Previous row", run: () => stepThrough("[data-row-link]", -1) },
  ]);
}

/** Moves the focus to the next or previous of the elements that match, at first to the first or the last. */
export function stepThrough(selector: string, by: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLElement>(`main ${selector}`)];
  const at = all.findIndex((each) => each.contains(document.activeElement));
  const next = at < 0 ? all.at(by > 0 ? 0 : -1) : all[at + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
