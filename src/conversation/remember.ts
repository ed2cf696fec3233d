/** Sets a key, and drops the oldest ones past the limit. */
export function remember<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= max) return;
    map.delete(oldest);
  }
}
