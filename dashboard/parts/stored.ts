type Area = "localStorage" | "sessionStorage";

/** Reads a value from the storage of the browser; null if it does not exist or the storage is not available. */
export function readStored(key: string, area: Area = "localStorage"): string | null {
  return attempt(() => window[area].getItem(key), null);
}

/** Writes a value, if the storage is available and not full: otherwise the value lasts until the page is closed. */
export function store(key: string, value: string, area: Area = "localStorage"): void {
  attempt(() => window[area].setItem(key, value), undefined);
}

export function forget(key: string, area: Area = "localStorage"): void {
  attempt(() => window[area].removeItem(key), undefined);
}

export function storedKeys(): string[] {
  return attempt(() => Object.keys(localStorage), []);
}

function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
