/** The time of day as people read it, in UTC. */
export function clock(time) {
  return `${time.getUTCHours()}:${String(time.getUTCMinutes()).padStart(2, "0")}`;
}
