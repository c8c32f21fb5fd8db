import { defineConfig } from "vite";
import { shared } from "@triplane/example-react-shared/vite";

export default defineConfig(shared());
