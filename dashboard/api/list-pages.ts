/** The first and the last row that the window shows, by their index. */
export interface View {
  first: number;
  last: number;
}

/** Whether the window shows a row of a page, given the rows of all pages. */
export function isInView(
  pages: readonly (readonly unknown[])[],
  page: number,
  { first, last }: View,
): boolean {
  const begin = pages.slice(0, page).reduce((sum, { length }) => sum + length, 0);
  const end = begin + (pages[page]?.length ?? 0);
  return first < end && last >= begin;
}

/**
 * The rows of a page that was refetched with some more than it had, without those that the next page begins with; so the next
 * page stays as it is, and follows.
 * @returns null if the page no longer reaches the next one, which then has to be read from another place
 */
export function inPlace<T>(fresh: readonly T[], next: readonly T[], idOf: (row: T) => string): T[] | null {
  const following = new Set(next.map(idOf));
  let end = fresh.length;
  for (let row = fresh[end - 1]; row !== undefined && following.has(idOf(row)); row = fresh[end - 1]) end--;
  return end === fresh.length ? null : fresh.slice(0, end);
}
