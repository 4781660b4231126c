import type { INestApplication, Type } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { ACCESS, type AccessKey } from '../../../domain/access/access.js';
import { ACCESS_KEY } from './access.decorator.js';

export interface DeclaredRoute {
  readonly handler: string;
  readonly access: AccessKey | undefined;
}

/** Every route handler of every controller, with the access that it declares. */
export function declaredRoutes(app: INestApplication): DeclaredRoute[] {
  const routes: DeclaredRoute[] = [];
  for (const module of app.get(ModulesContainer).values()) {
    for (const { metatype } of module.controllers.values()) {
      if (!metatype) continue;
      const prototype = (metatype as Type<object>).prototype as object;
      for (const name of Object.getOwnPropertyNames(prototype)) {
        const handler: unknown = Object.getOwnPropertyDescriptor(prototype, name)?.value;
        if (typeof handler !== 'function' || !Reflect.hasMetadata(PATH_METADATA, handler) || name === 'constructor') continue;
        routes.push({ handler: `${metatype.name}.${name}`, access: Reflect.getMetadata(ACCESS_KEY, handler) as AccessKey | undefined });
      }
    }
  }
  return routes;
}

/** @throws Error naming each route that does not say who may call it */
export function assertEveryRouteDeclared(app: INestApplication): void {
  const open = declaredRoutes(app).filter(({ access }) => access === undefined || !(access in ACCESS));
  if (open.length > 0) throw new Error(`No access is declared for ${open.map((route) => route.handler).join(', ')}`);
}
