/** What this browser keeps under a key; null where it has nothing, or keeps nothing. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a value for the next time, if the browser does that. */
export function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // it keeps nothing, or is full: what was chosen holds until the page is left
  }
}

export function forget(key: string): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // there was nothing
  }
}

export function storedKeys(): string[] {
  try {
    return Object.keys(localStorage);
  } catch {
    return [];
  }
}
