/** Tests drop databases: never in a server whose named database is not plainly one for tests. */
export function refuseOtherNames(url) {
  const name = decodeURIComponent(new URL(url).pathname.slice(1));
  if (name.includes('test')) return;
  throw new Error(`TEST_DATABASE_URL names the database "${name}": its name must contain "test", since tests drop databases.`);
}
