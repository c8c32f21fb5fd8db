export function AgentScreen() {
  return null;
}
