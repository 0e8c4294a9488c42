//! How the types are written as JSON and read. It is written out here, for the derive macro and what it
//! needs take longer to build than all the rest of a handler.

/// A type whose values are names.
macro_rules! names {
    ($type:ident { $($variant:ident = $name:literal,)* }) => {
        impl $type {
            const NAMES: &'static [&'static str] = &[$($name),*];
            const VALUES: &'static [Self] = &[$(Self::$variant),*];
        }

        impl serde_core::Serialize for $type {
            fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let index = *self as u32;
                serializer.serialize_unit_variant(
                    stringify!($type),
                    index,
                    Self::NAMES[index as usize],
                )
            }
        }

        const _: () = {
            use serde_core::de::{Deserialize, Deserializer, EnumAccess, Error, VariantAccess, Visitor};

            /// The variant's name, or its number in formats that have no names.
            struct Variant($type);

            struct VariantVisitor;

            impl Visitor<'_> for VariantVisitor {
                type Value = Variant;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    write!(f, "one of {}", $type::NAMES.join(", "))
                }

                fn visit_u64<E: Error>(self, index: u64) -> Result<Variant, E> {
                    let index = usize::try_from(index).unwrap_or(usize::MAX);
                    let value = $type::VALUES.get(index).copied();
                    value.map(Variant).ok_or_else(|| E::custom("there is no such variant"))
                }

                fn visit_str<E: Error>(self, name: &str) -> Result<Variant, E> {
                    let index = $type::NAMES.iter().position(|known| *known == name);
                    match index {
                        Some(index) => Ok(Variant($type::VALUES[index])),
                        None => Err(E::unknown_variant(name, $type::NAMES)),
                    }
                }
            }

            impl<'de> Deserialize<'de> for Variant {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    deserializer.deserialize_identifier(VariantVisitor)
                }
            }

            struct TypeVisitor;

            impl<'de> Visitor<'de> for TypeVisitor {
                type Value = $type;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    VariantVisitor.expecting(f)
                }

                fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<$type, A::Error> {
                    let (Variant(value), rest) = data.variant()?;
                    rest.unit_variant()?;
                    Ok(value)
                }
            }

            impl<'de> Deserialize<'de> for $type {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    deserializer.deserialize_enum(stringify!($type), Self::NAMES, TypeVisitor)
                }
            }
        };
    };
}

/// A type that is an object. A `required` member must be there; the others may be absent. `null` is
/// written where there is nothing, but for those that are `sparse`.
macro_rules! object {
    ($type:ident { $($how:ident $field:ident = $key:literal,)* }) => {
        impl serde_core::Serialize for $type {
            fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde_core::ser::SerializeMap as _;
                let mut object = serializer.serialize_map(None)?;
                $(object!(@write $how object, $key, self.$field);)*
                object.end()
            }
        }

        impl<'de> serde_core::Deserialize<'de> for $type {
            fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut object = serde_json::Map::<String, Value>::deserialize(deserializer)?;
                Ok(Self { $($field: object!(@read $how object, $key),)* })
            }
        }
    };
    (@write sparse $object:ident, $key:literal, $value:expr) => {
        if let Some(value) = &$value {
            $object.serialize_entry($key, value)?;
        }
    };
    (@write $how:ident $object:ident, $key:literal, $value:expr) => {
        $object.serialize_entry($key, &$value)?
    };
    (@read required $object:ident, $key:literal) => {
        match $object.remove($key) {
            Some(value) => serde_json::from_value(value).map_err(serde_core::de::Error::custom)?,
            None => return Err(serde_core::de::Error::missing_field($key)),
        }
    };
    (@read $how:ident $object:ident, $key:literal) => {
        match $object.remove($key) {
            Some(value) => serde_json::from_value(value).map_err(serde_core::de::Error::custom)?,
            None => Default::default(),
        }
    };
}

/// A type that is an object with one member, named after the event.
macro_rules! by_event {
    ($type:ident { $($variant:ident,)* }) => {
        impl serde_core::Serialize for $type {
            fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde_core::ser::SerializeMap as _;
                let mut object = serializer.serialize_map(Some(1))?;
                match self {
                    $(Self::$variant(inner) => object.serialize_entry(stringify!($variant), inner)?,)*
                }
                object.end()
            }
        }

        impl<'de> serde_core::Deserialize<'de> for $type {
            fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde_core::de::Error as _;
                let object = serde_json::Map::<String, Value>::deserialize(deserializer)?;
                let mut members = object.into_iter();
                let (Some((name, inner)), None) = (members.next(), members.next()) else {
                    return Err(D::Error::custom("expected one member, named after the event"));
                };
                match name.as_str() {
                    $(stringify!($variant) => {
                        serde_json::from_value(inner).map(Self::$variant).map_err(D::Error::custom)
                    })*
                    _ => Err(D::Error::unknown_variant(&name, &[$(stringify!($variant)),*])),
                }
            }
        }
    };
}

pub(crate) use {by_event, names, object};
