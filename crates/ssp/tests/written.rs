//! What is written is read as it was meant.

use std::fs;
use std::path::Path;

use dovetail_ssp::{
    BaseUnit, DataType, Dimension, Enumeration, EnumerationItem, Implementation, Kind, Map,
    ParameterValue, SspVersion, Structure, UnitDef, WrittenComponent, WrittenConnection,
    WrittenConnector, WrittenEnd, WrittenParameter, WrittenStructure, WrittenType, read, write,
};

const NUMBER: WrittenType = WrittenType {
    data_type: DataType::Float64,
    unit: None,
    enumeration: None,
};

fn of(data_type: DataType) -> WrittenType {
    WrittenType {
        data_type,
        ..NUMBER
    }
}

fn unit(name: &str, factor: f64) -> UnitDef {
    let base = BaseUnit {
        exponents: [0, 1, 0, 0, 0, 0, 0, 0],
        factor,
        offset: 0.0,
    };
    UnitDef {
        name: name.to_owned(),
        base: Some(base),
    }
}

fn connector(name: &str, kind: Kind, typing: WrittenType) -> WrittenConnector {
    WrittenConnector {
        name: name.to_owned(),
        kind,
        typing,
        dimensions: Vec::new(),
    }
}

fn parameter(name: &str, typing: WrittenType, value: ParameterValue) -> WrittenParameter {
    WrittenParameter {
        name: name.to_owned(),
        typing,
        value,
        dimensions: Vec::new(),
    }
}

fn end(component: usize, connector: &str, indices: &[u64]) -> WrittenEnd {
    WrittenEnd {
        component,
        connector: connector.to_owned(),
        indices: indices.to_vec(),
    }
}

/// Two components of the same FMU.
fn structure(
    connectors: Vec<WrittenConnector>,
    parameters: Vec<WrittenParameter>,
) -> WrittenStructure {
    let component = |name: &str, parameters| WrittenComponent {
        name: name.to_owned(),
        source: "resources/a file & more.fmu".to_owned(),
        implementation: Implementation::CoSimulation,
        connectors: connectors.clone(),
        parameters,
    };
    WrittenStructure {
        name: "a \"model\" <of> two & more".to_owned(),
        generation_tool: "a test".to_owned(),
        components: vec![
            component("land.prey", parameters),
            component("b", Vec::new()),
        ],
        connections: Vec::new(),
        start_time: 0.1,
        stop_time: 2e-7,
        run_options: Vec::new(),
    }
}

/// Writes a structure and reads it back, without a warning.
fn read_back(structure: &WrittenStructure, version: SspVersion) -> Structure {
    let folder = tempfile::tempdir().expect("a folder");
    for file in write(structure, version).expect("it can be said") {
        let path = folder.path().join(&file.name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, file.text).expect("a file");
    }
    fs::create_dir_all(folder.path().join("resources")).expect("a folder");
    fs::write(folder.path().join("resources/a file & more.fmu"), "").expect("a file");
    let ssd = folder.path().join("SystemStructure.ssd");
    let found = read(&ssd, folder.path(), &mut |_: &Path| {
        Err("no archive".to_owned())
    });
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    found
}

#[test]
fn names_times_and_the_method_come_back() {
    let mut structure = structure(Vec::new(), Vec::new());
    structure.run_options = vec![
        ("method".to_owned(), "ifosmondi".to_owned()),
        ("step".to_owned(), "1e-3".to_owned()),
    ];
    for version in [SspVersion::One, SspVersion::Two] {
        let found = read_back(&structure, version);
        assert_eq!(found.name, structure.name);
        assert_eq!(found.components[0].name, "land.prey");
        assert_eq!(
            found.components[0].implementation,
            Implementation::CoSimulation
        );
        assert_eq!(found.experiment.start_time, Some(0.1));
        assert_eq!(found.experiment.stop_time, Some(2e-7));
        assert_eq!(found.run_options, structure.run_options);
    }
}

#[test]
fn values_of_all_types_come_back() {
    let color = Enumeration {
        name: "Color".to_owned(),
        items: vec![("red".to_owned(), 1), ("light blue".to_owned(), 4)],
    };
    let item = EnumerationItem {
        name: "light blue".to_owned(),
        value: Some(4),
    };
    let of_color = WrittenType {
        data_type: DataType::Enumeration,
        unit: None,
        enumeration: Some(color),
    };
    let in_feet = WrittenType {
        unit: Some(unit("ft", 0.3048)),
        ..NUMBER
    };
    let text = "a <text>, \"quoted\"\n& more".to_owned();
    let given = vec![
        parameter("x", in_feet, ParameterValue::Float(vec![-0.1])),
        parameter("n", of(DataType::Int32), ParameterValue::Integer(vec![-7])),
        parameter(
            "on",
            of(DataType::Boolean),
            ParameterValue::Boolean(vec![true]),
        ),
        parameter(
            "t",
            of(DataType::String),
            ParameterValue::String(vec![text]),
        ),
        parameter("c", of_color, ParameterValue::Enumeration(vec![item])),
        parameter(
            "b",
            of(DataType::Binary),
            ParameterValue::Binary(vec![vec![0, 255]]),
        ),
    ];
    let structure = structure(Vec::new(), given.clone());
    for version in [SspVersion::One, SspVersion::Two] {
        let found = read_back(&structure, version);
        let found = &found.components[0].parameters;
        assert_eq!(found.len(), given.len());
        for (found, given) in found.iter().zip(&given) {
            assert_eq!((&found.name, &found.value), (&given.name, &given.value));
            assert_eq!(found.unit, given.typing.unit);
        }
    }
}

#[test]
fn arrays_come_back_in_ssp_2_and_are_refused_in_ssp_1() {
    let mut wide = connector("m", Kind::Output, of(DataType::Int64));
    wide.dimensions = vec![2, 3];
    let mut values = parameter(
        "big",
        of(DataType::UInt64),
        ParameterValue::Integer(vec![u64::MAX.into(), 1]),
    );
    values.dimensions = vec![2];
    let structure = structure(vec![wide], vec![values]);
    let found = read_back(&structure, SspVersion::Two);
    let component = &found.components[0];
    let sizes = [Dimension::Fixed(2), Dimension::Fixed(3)];
    assert_eq!(component.connectors[0].dimensions, sizes);
    assert_eq!(
        component.parameters[0].value,
        ParameterValue::Integer(vec![u64::MAX.into(), 1])
    );

    let refused = write(&structure, SspVersion::One).expect_err("SSP 1.0 has no arrays");
    assert_eq!(
        (&*refused.component, &*refused.variable),
        ("land.prey", "m")
    );
    assert!(refused.in_two);
}

#[test]
fn whole_numbers_beyond_32_bits_are_refused_in_ssp_1() {
    let large = ParameterValue::Integer(vec![1 << 40]);
    let large = parameter("n", of(DataType::Int64), large);
    let structure = structure(Vec::new(), vec![large]);
    let refused = write(&structure, SspVersion::One).expect_err("too large");
    assert!(refused.to_string().contains("1099511627776"), "{refused}");
    read_back(&structure, SspVersion::Two);
}

#[test]
fn transformations_stand_in_place_of_units() {
    let meters = WrittenType {
        unit: Some(unit("m", 1.0)),
        ..NUMBER
    };
    let feet = WrittenType {
        unit: Some(unit("ft", 0.3048)),
        ..NUMBER
    };
    let connectors = vec![
        connector("y", Kind::Output, meters),
        connector("u", Kind::Input, feet.clone()),
        connector("v", Kind::Input, feet),
    ];
    let mut structure = structure(connectors, Vec::new());
    let connection = |to: &str, map| WrittenConnection {
        from: end(0, "y", &[]),
        to: end(1, to, &[]),
        map,
    };
    let (factor, offset) = (2.0, -1.0);
    structure.connections = vec![
        connection("u", None),
        connection("v", Some(Map::Linear { factor, offset })),
    ];
    let found = read_back(&structure, SspVersion::One);
    let route = |name: &str| {
        let mut connections = found.connections.iter();
        let found = connections
            .find(|own| own.to.variable == name)
            .expect("it is there");
        let transform = found.route.resolve(None, None).expect("units of a kind");
        transform.linear().expect("linear")
    };
    assert_eq!(route("u"), (1.0 / 0.3048, 0.0));
    assert_eq!(route("v"), (2.0, -1.0));
}

#[test]
fn units_of_one_name_that_differ_are_both_kept() {
    let typing = |factor| WrittenType {
        unit: Some(unit("mile", factor)),
        ..NUMBER
    };
    let connectors = vec![
        connector("y", Kind::Output, typing(1609.344)),
        connector("u", Kind::Input, typing(1852.0)),
    ];
    let found = read_back(&structure(connectors, Vec::new()), SspVersion::One);
    let factor = |k: usize| {
        let unit = found.components[0].connectors[k].unit.as_ref();
        unit.and_then(|unit| unit.base).map(|base| base.factor)
    };
    assert_eq!((factor(0), factor(1)), (Some(1609.344), Some(1852.0)));
}
