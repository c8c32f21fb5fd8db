export function AgentsScreen() {
  return null;
}
