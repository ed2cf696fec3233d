/** Reads a value from local storage; null if it does not exist or local storage is not available. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Writes a value to local storage, if it is available. */
export function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // not available or full: the value lasts until the page is closed
  }
}

export function forget(key: string): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // not available: nothing was stored
  }
}

export function storedKeys(): string[] {
  try {
    return Object.keys(localStorage);
  } catch {
    return [];
  }
}
