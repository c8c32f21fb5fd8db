/** A program that ends two seconds after the first SIGTERM, and says how many there were. */
let signals = 0;
process.on("SIGTERM", () => {
  signals += 1;
  if (signals === 1)
    setTimeout(() => {
      console.log(`signals: ${signals}`);
      process.exit(0);
    }, 2_000);
});
setInterval(() => {}, 1_000);
console.log("counting");
