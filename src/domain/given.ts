type Absent<Members> = { [Name in keyof Members]: null extends Members[Name] ? Name : undefined extends Members[Name] ? Name : never };

/** Members of which those that may be null or undefined are optional. */
type Given<Members> = Omit<Members, NonNullable<Absent<Members>[keyof Members]>>
  & { [Name in NonNullable<Absent<Members>[keyof Members]>]?: NonNullable<Members[Name]> };

/** The same members without those that are null or undefined. */
export function given<Members extends object>(members: Members): Given<Members> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined)) as Given<Members>;
}
